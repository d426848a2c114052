# On a machine with Python 3.11, pip and make: `make demo` shows the product, `make test` checks it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Compiled modules are kept: without them every process of the tests compiles the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint unit slow bench docs client lock locked sbom clean

demo: $(VENV)/.installed
	$(BIN)/dither demo
	$(BIN)/python examples/collector/demo.py

test: lint unit

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(VENV)/.installed
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

# Long statistical and reproduction runs, with fresh seeds where a test takes one.
slow: $(VENV)/.docs $(VENV)/.spark
	$(BIN)/python -m pytest -n 2 --dist worksteal -m slow

# Ratios measured in one run; see benchmarks/README.md.
bench: $(VENV)/.installed
	$(BIN)/python -m benchmarks

# The site, built offline from the repository alone, into docs/_build.
docs: $(VENV)/.docs
	$(BIN)/sphinx-build -j auto -q -W --keep-going -b html docs docs/_build

# The bundles that browsers load, clients/javascript/dist; Node comes with the development packages where there is none.
client: $(VENV)/.installed
	cd clients/javascript && PATH="$$PATH:$(CURDIR)/$(BIN)" npm ci --silent && PATH="$$PATH:$(CURDIR)/$(BIN)" npm run --silent build
	$(BIN)/python docs/playground/build.py

$(VENV)/.docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	touch $@

# Spark and a Java for it, which only the long runs use.
$(VENV)/.spark: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group spark
	touch $@

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	touch $@

# The same packages everywhere: versions and hashes of requirements/dev.lock, and nothing else.
locked:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps \
		--requirement requirements/dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $(VENV)/.installed

# Made anew from pyproject.toml; needs uv (pip install uv).
lock:
	$(PYTHON) requirements/list_dev.py > requirements/dev.in
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--no-emit-index-url --no-emit-find-links requirements/dev.in --output-file requirements/dev.lock
	rm requirements/dev.in

# A bill of materials of the locked environment; needs cyclonedx-py (pip install cyclonedx-bom).
sbom:
	mkdir -p dist
	cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible --of JSON \
		--output-file dist/dither.cdx.json requirements/dev.lock

clean:
	rm -rf $(VENV) demo-output
