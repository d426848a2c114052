# On a machine with Python 3.11, pip and make: `make demo` shows the product, `make test` checks it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Compiled modules are kept: without them every process of the tests compiles the package anew.
unexport PYTHONDONTWRITEBYTECODE

# uv installs in a few seconds. pip takes longer, and does not compile what may never be imported.
UV := $(shell command -v uv 2> /dev/null)
ifdef UV
ENVIRONMENT = $(UV) venv --quiet --allow-existing --python "$(PYTHON)" $(VENV)
INSTALL = $(UV) pip install --quiet --python $(BIN)/python
GROUPS = :
else
ENVIRONMENT = $(PYTHON) -m venv $(VENV)
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
GROUPS = $(INSTALL) --upgrade "pip>=25.1"
endif
# The JavaScript client is tested with the machine's Node, or with a package where there is none.
NODE := $(if $(shell command -v node 2> /dev/null),,--group node)

# So is the Go client, with a Go from 1.26 on.
GO := $(if $(shell go env GOVERSION 2> /dev/null | grep -E '^go1\.(2[6-9]|[3-9][0-9])'),,--group go)

.PHONY: demo test help lint unit quick slow proofs bench docs client dist lock locked sbom clean

demo: $(VENV)/.demo ## see dither work: collect, estimate and audit generated data, and run a collector
	$(BIN)/dither demo
	$(BIN)/python examples/collector/demo.py

# Both at once: types are checked on the core that the tests leave idle.
test: $(VENV)/.installed ## check everything but the long runs: style, types, imports, tests
	@$(MAKE) --no-print-directory -j 2 lint unit

help: ## list the targets
	@grep -E '^[a-z]+:.* ## ' $(MAKEFILE_LIST) | sed -E 's/:.* ## /\t/' | expand -t 10

lint: $(VENV)/.installed ## style, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(VENV)/.installed
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

quick: $(VENV)/.installed ## the tests of the modules that changed, and of those that import them
	$(BIN)/python -m tools.quick $(if $(STEPS),--steps $(STEPS))

# Long statistical and reproduction runs, with fresh seeds where a test takes one.
slow: $(VENV)/.slow proofs ## the long runs: statistics, browsers, Spark, kills, papers
	$(BIN)/python -m pytest -n 2 --dist worksteal -m slow

# Says how to install Coq where it is missing.
proofs: ## check the proofs with Coq, and compile the program that is extracted from them
	$(PYTHON) -m tools.proofs

# Ratios measured in one run; see tools/benchmarks/README.md.
bench: $(VENV)/.installed ## speed, as ratios in one run
	$(BIN)/python -m tools.benchmarks

# The site, built offline from the repository alone, into docs/_build.
docs: $(VENV)/.docs ## build the site into docs/_build
	$(BIN)/sphinx-build -j auto -q -W --keep-going -b html docs docs/_build

# The bundles that browsers load, clients/javascript/dist; Node comes with the development packages where there is none.
client: $(VENV)/.installed ## build what browsers load, clients/javascript/dist
	cd clients/javascript && PATH="$$PATH:$(CURDIR)/$(BIN)" npm ci --silent && PATH="$$PATH:$(CURDIR)/$(BIN)" npm run --silent build
	$(BIN)/python docs/playground/build.py

$(VENV)/.docs: $(VENV)/.installed
	$(INSTALL) --group docs
	touch $@

# What only the long runs use: Spark with a Java, ClickHouse, the site's builder.
$(VENV)/.slow: $(VENV)/.installed
	$(INSTALL) --editable . --group slow
	touch $@ $(VENV)/.docs $(VENV)/.package

# Go comes with its standard library as source. What the client needs of it is compiled here, once, into the
# machine's cache of Go: it takes as long as a tenth of all tests.
$(VENV)/.installed: $(VENV)/.demo
	$(GROUPS)
	$(INSTALL) --editable . --group dev $(NODE) $(GO)
	-cd clients/go && PATH="$$PATH:$(CURDIR)/$(BIN)" GOPROXY=off GOTOOLCHAIN=local go test -c -vet=off -o /dev/null .
	touch $@

# The little that the demonstration needs, a tenth of the development environment.
$(VENV)/.demo: pyproject.toml
	$(ENVIRONMENT)
	$(INSTALL) --editable '.[plot,service]'
	touch $@

# The same packages everywhere: versions and hashes of tools/requirements/dev.lock, and nothing else.
locked: ## an environment with the locked versions and hashes
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps \
		--requirement tools/requirements/dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $(VENV)/.demo $(VENV)/.installed

# Made anew from pyproject.toml; needs uv (pip install uv).
lock: ## renew the locked versions
	$(PYTHON) tools/requirements/list_dev.py > tools/requirements/dev.in
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--no-emit-index-url --no-emit-find-links tools/requirements/dev.in --output-file tools/requirements/dev.lock
	rm tools/requirements/dev.in

# The wheels and source distributions of dither and of dither-device, the same bytes from the same commit: of the
# files that are committed, so that a key or a store in this folder is not among them.
dist: export SOURCE_DATE_EPOCH = $(shell git log -1 --format=%ct)
dist: $(VENV)/.package ## wheels and source distributions
	rm -rf dist build/dist
	mkdir -p build/dist
	git archive HEAD | tar -x -C build/dist
	cd build/dist && $(abspath $(BIN))/python -m hatchling build -d $(CURDIR)/dist
	cd build/dist/clients/python && $(abspath $(BIN))/python -m hatchling build -d $(CURDIR)/dist
	rm -rf build/dist
	$(BIN)/twine check --strict dist/*
	cd dist && sha256sum *

# A bill of materials of what runs: the core and some extras, by default those of a collector.
EXTRAS ?= service
sbom: $(VENV)/.package ## a bill of materials of what runs
	mkdir -p dist
	$(BIN)/uv pip compile --quiet --generate-hashes --no-header --no-annotate --no-emit-index-url \
		--no-emit-find-links --python $(BIN)/python $(EXTRAS:%=--extra %) pyproject.toml \
		--output-file dist/runs.txt
	$(BIN)/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible --of JSON \
		--output-file dist/dither.cdx.json dist/runs.txt

$(VENV)/.package: $(VENV)/.demo
	$(GROUPS)
	$(INSTALL) --group package
	touch $@

clean: ## remove the environment and what the demonstration wrote
	rm -rf $(VENV) demo-output
