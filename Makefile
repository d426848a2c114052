# On a machine with Python 3.11, pip and make: `make demo` shows the product, `make test` checks it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint unit slow bench docs clean

demo: $(VENV)/.installed
	$(BIN)/dither demo

test: lint unit

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(VENV)/.installed
	$(BIN)/python -m pytest -n 2 -m "not slow"

# Long statistical and reproduction runs, with fresh seeds where a test takes one.
slow: $(VENV)/.docs
	$(BIN)/python -m pytest -m slow

# Ratios measured in one run; see benchmarks/README.md.
bench: $(VENV)/.installed
	$(BIN)/python -m benchmarks

# The site, built offline from the repository alone, into docs/_build.
docs: $(VENV)/.docs
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build

$(VENV)/.docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	touch $@

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	touch $@

clean:
	rm -rf $(VENV) demo-output
