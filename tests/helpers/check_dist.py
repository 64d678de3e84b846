"""Look into the built wheels, install them in a new venv, and use them as a user does.

``python tests/helpers/check_dist.py dist`` takes the wheels of both distributions from a folder.
Nothing of the checkout is on the path of the new interpreter.
"""

import argparse
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

#: What a wheel may hold beside its metadata, by the name of its package.
ALLOWED = {
    "metasampler": {".py", ".typed", ".npz", ".css", ".js"},
    "metasampler_bench": {".py", ".typed", ".toml"},
}
#: Far more than the code has: data that got into a wheel by mistake is larger.
MOST_BYTES = 2 << 20

#: The library without extras.
LIBRARY = """
import sys
from pathlib import Path
from sklearn.datasets import load_breast_cancer
import metasampler
from metasampler import MesaClassifier, MetaSampler, load_model, save_model
from metasampler.policy import pretrained_names

assert Path(metasampler.__file__).is_relative_to(sys.prefix), metasampler.__file__
X, y = load_breast_cancer(return_X_y=True)
clf = MesaClassifier(random_state=0).fit(X, y)
assert clf.score(X, y) > 0.9
save_model(clf, "model.mesa")
assert (load_model("model.mesa").predict(X) == clf.predict(X)).all()
assert [MetaSampler.load(name).policy_ for name in pretrained_names()]
"""

#: A file for the command line.
TABLE = """
from metasampler.datasets import make_claims

make_claims().head(2000).to_csv("claims.csv", index=False)
"""

#: The second distribution.
BENCH = """
import sys
from pathlib import Path
import metasampler_bench

assert Path(metasampler_bench.__file__).is_relative_to(sys.prefix), metasampler_bench.__file__
for name in metasampler_bench.list_specs():
    metasampler_bench.load_spec(name)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder.resolve()
    wheels = {}
    for package, suffixes in ALLOWED.items():
        (wheels[package],) = folder.glob(f"{package}-*.whl")
        look_into(wheels[package], package, suffixes)
    with tempfile.TemporaryDirectory() as place:
        use(wheels, folder, Path(place))
    print("both wheels are whole, install and work")


def look_into(wheel: Path, package: str, suffixes: set[str]) -> None:
    """Exit if a wheel holds anything but its package and metadata, or is too large."""
    with zipfile.ZipFile(wheel) as archive:
        names = [PurePosixPath(info.filename) for info in archive.infolist()]
    strangers = [
        str(name)
        for name in names
        if not name.parts[0].endswith(".dist-info")
        and (name.parts[0] != package or name.suffix not in suffixes or "test" in name.stem)
    ]
    if strangers:
        sys.exit(f"{wheel.name} holds files that are not the package's: {', '.join(strangers)}")
    if wheel.stat().st_size > MOST_BYTES:
        sys.exit(
            f"{wheel.name} has {wheel.stat().st_size:,} bytes; at most {MOST_BYTES:,} are usual"
        )
    print(f"{wheel.name}: {len(names)} files, {wheel.stat().st_size:,} bytes")


def use(wheels: dict[str, Path], folder: Path, place: Path) -> None:
    """Install the wheels in a venv, first without extras, and run code and commands."""
    subprocess.run([sys.executable, "-m", "venv", str(place / "venv")], check=True)
    scripts = place / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    work = place / "work"
    work.mkdir()

    def run(program: str, *arguments: str) -> None:
        print("$", program, *(text for text in arguments if "\n" not in text), flush=True)
        done = subprocess.run(
            [str(scripts / program), *arguments], cwd=work, capture_output=True, text=True
        )
        if done.returncode != 0:
            sys.exit(f"{done.stdout}{done.stderr}\n{program} ended with {done.returncode}.")

    def install(*what: str) -> None:
        quiet = ["--quiet", "--disable-pip-version-check"]
        run("python", "-m", "pip", "install", *quiet, "--find-links", str(folder), *what)

    install(str(wheels["metasampler"]))
    run("python", "-I", "-c", LIBRARY)
    run("metasampler", "samplers")
    install(f"{wheels['metasampler']}[data]")
    run("python", "-I", "-c", TABLE)
    run("metasampler", "fit", "claims.csv", "--target", "fraud", "--output", "claims.mesa")
    run("metasampler", "predict", "claims.mesa", "claims.csv", "--output", "scores.csv")
    install(str(wheels["metasampler_bench"]))
    run("python", "-I", "-c", BENCH)
    run("metasampler", "methods")
    run("python", "-m", "pip", "check")


if __name__ == "__main__":
    main()
