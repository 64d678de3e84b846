# Two commands on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
# One pip call per purpose, redone only when the metadata of a package changes.
STAMP = $(VENV)/.installed

.PHONY: demo fuzz test coverage test-dask test-tools test-versions test-rl test-web lint docs dist bench bench-smoke clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# The library with one of its extras, and the benchmarks beside it.
$(STAMP)-%: pyproject.toml bench/pyproject.toml | $(BIN)/python
	$(PIP) -e ".[$*]" -e bench
	@touch $@

demo: $(STAMP)-plot  ## compare MESA with its rivals on data bundled with scikit-learn
	$(BIN)/metasampler compare

PLAIN = -n 2 --ignore tests/rl --ignore tests/tools --ignore tests/web --ignore tests/distributed --ignore bench/tests/deep tests bench/tests src bench/src

test: $(STAMP)-test  ## the whole suite, without PyTorch, Chromium, Dask and other people's tools
	$(BIN)/python -m pytest $(PLAIN)

coverage: $(STAMP)-test  ## the same, with the lines that no test reaches; two thirds more CPU before Python 3.12
	$(BIN)/python -m pytest $(PLAIN) --cov --cov-report=term:skip-covered

# The CPU build has to be there before anything that depends on torch pulls a larger one.
$(VENV)/.torch: | $(BIN)/python
	$(PIP) torch==2.13.0
	@touch $@

test-rl: $(VENV)/.torch $(STAMP)-test-rl  ## the tests that need PyTorch or Stable-Baselines3
	$(BIN)/python -m pytest tests/rl bench/tests/deep

test-tools: $(STAMP)-test-tools  ## a fit in other people's tools: shap, MLflow, onnxruntime
	$(BIN)/python -m pytest tests/tools

test-dask: $(STAMP)-test-dask  ## fits on a real cluster of processes, with lost workers and drivers
	$(BIN)/python -m pytest tests/distributed

test-web: $(STAMP)-test-web  ## the report in a real Chromium (Debian: chromium, chromium-driver)
	REQUIRE_CHROMIUM=1 $(BIN)/python -m pytest tests/web

fuzz: $(STAMP)-test  ## twenty thousand odd inputs, damaged files, kills, interrupts and full disks: ten minutes
	$(BIN)/python tests/helpers/fuzzing --examples 20000 --output docs/results/fuzz.md

test-versions:  ## the core of the suite with every supported scikit-learn, each in its own venv
	$(PYTHON) tests/helpers/versions.py --output docs/results/versions.md

lint: $(STAMP)-lint  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(STAMP)-docs  ## the site, in docs/_build/html; warnings and broken references are errors
	rm -rf docs/generated docs/gallery
	cd docs && ../$(BIN)/python -m sphinx -W --keep-going -b html . _build/html
	$(BIN)/python docs/links.py docs/_build/html

dist: $(STAMP)-dist  ## wheels and sources of both distributions, checked in a new venv
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m build --outdir dist bench
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(BIN)/python tests/helpers/check_dist.py dist

bench: $(STAMP)-test  ## the speed table, as ratios within one run
	$(BIN)/python benchmarks/speed.py

bench-smoke: $(STAMP)-test  ## every table and figure with --quick: some minutes
	set -e; for name in $$($(BIN)/python -c "from metasampler_bench import list_specs; print(*list_specs())"); do \
	  echo "== $$name"; $(BIN)/metasampler bench $$name --quick --output metasampler-results; \
	done

clean:
	rm -rf $(VENV) build dist docs/_build docs/gallery docs/generated .pytest_cache .mypy_cache .ruff_cache .coverage
