"""A fit in MLflow: logged, loaded again, and recorded by autolog inside a pipeline."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from metasampler import MesaClassifier, save_model
from metasampler.tables import TableCleaner

pytest.importorskip("mlflow", reason="mlflow is not installed: make test-tools")

# MLflow uses what others have marked as old.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def mlflow(tmp_path_factory):
    """MLflow with its store in a folder."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
        patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        import mlflow
        import mlflow.sklearn

        folder = tmp_path_factory.mktemp("mlflow")
        patch.chdir(folder)
        mlflow.set_tracking_uri((folder / "runs").as_uri())
        mlflow.set_experiment("metasampler")
        yield mlflow
        mlflow.sklearn.autolog(disable=True)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"amount": rng.normal(size=1500), "shop": rng.choice(["x", "y"], 1500)})
    y = (X["amount"] + (X["shop"] == "x") > 1.8).astype(int)
    X.loc[::7, "amount"] = np.nan
    pipe = make_pipeline(TableCleaner(), MesaClassifier(recipe="fast", random_state=0))
    return pipe.fit(X, y), X, y


def test_a_pipeline_is_logged_and_loaded_as_skops_and_as_a_pickle(mlflow, fitted):
    skops = pytest.importorskip("skops.io", reason="skops is not installed: make test-tools")
    pipe, X, _ = fitted
    signature = mlflow.models.infer_signature(X, pipe.predict(X))
    for options in (
        {"skops_trusted_types": skops.get_untrusted_types(data=skops.dumps(pipe))},
        {"serialization_format": "cloudpickle"},
    ):
        with mlflow.start_run():
            # The packages are named, because finding them out starts another Python.
            logged = mlflow.sklearn.log_model(
                pipe, name="m", signature=signature, pip_requirements=["metasampler"], **options
            )
        again = mlflow.sklearn.load_model(logged.model_uri)
        np.testing.assert_array_equal(again.predict_proba(X), pipe.predict_proba(X))
        served = mlflow.pyfunc.load_model(logged.model_uri)
        np.testing.assert_array_equal(served.predict(X), pipe.predict(X))


def test_a_model_file_is_logged_and_served_with_probabilities(mlflow, fitted, tmp_path):
    pipe, X, _ = fitted
    save_model(pipe, tmp_path / "model.mesa")
    code = tmp_path / "served.py"
    # The lines of the guide.
    code.write_text(
        "import mlflow\n"
        "import metasampler\n\n\n"
        "class Served(mlflow.pyfunc.PythonModel):\n"
        "    def load_context(self, context):\n"
        '        self.model = metasampler.load_model(context.artifacts["model"])\n\n'
        "    def predict(self, context, model_input, params=None):\n"
        "        return self.model.predict_proba(model_input)\n\n\n"
        "mlflow.models.set_model(Served())\n"
    )
    with mlflow.start_run():
        logged = mlflow.pyfunc.log_model(
            name="m",
            python_model=str(code),
            artifacts={"model": str(tmp_path / "model.mesa")},
            pip_requirements=["metasampler"],
        )
    served = mlflow.pyfunc.load_model(logged.model_uri)
    np.testing.assert_array_equal(served.predict(X), pipe.predict_proba(X))


def test_autolog_records_a_pipeline_and_knows_no_classifier_outside_of_scikit_learn(mlflow, fitted):
    _, X, y = fitted
    mlflow.sklearn.autolog(log_models=False)
    clf = MesaClassifier(recipe="fast", random_state=0)
    recorded = {}
    for name, model in {"alone": clf, "in a pipeline": make_pipeline(clf)}.items():
        with mlflow.start_run() as run:
            model.fit(X, y)
        recorded[name] = mlflow.get_run(run.info.run_id).data
    # It patches the classes that scikit-learn lists as its own.
    assert recorded["alone"].params == {}
    assert recorded["in a pipeline"].params["mesaclassifier__recipe"] == "fast"
    assert recorded["in a pipeline"].metrics["training_roc_auc"] > 0.9
