# One verb per need. Each makes the virtual environment that it needs, from nothing.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
ADAPTERS := .venv-adapters
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses=auto --dist=worksteal

# Bytecode is kept, whatever the shell says: hundreds of tests start interpreters of their own.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo year rules-life loop-life stress test test-all test-adapters portability explore test-agents retest-agents check house bench page docs reference site clean

demo: $(VENV)/.base          ## play five scenes on this repository's history and on the notes of a small team
	$(BIN)/python demo/demo.py

year: $(VENV)/.sleep         ## live a year of an agent's life and check what is left; FLAGS="--days 60" for less
	$(BIN)/python demo/year $(FLAGS)

rules-life: $(VENV)/.sleep   ## live sixty days of a coding agent that is corrected, and check its rules; FLAGS="--lives 1" for less
	$(BIN)/python demo/rules_life $(FLAGS)

loop-life: $(VENV)/.base     ## pursue thirty objectives with an agent that makes mistakes, with memory and without
	$(BIN)/python demo/loop_life $(FLAGS)

stress: $(VENV)/.all         ## many writers, kill -9 and faults, drawn from a seed; FLAGS="--kills 60 --writes 50" for less
	$(BIN)/python -m tests.stress $(FLAGS)

test: $(VENV)/.all           ## run every test that needs no other process, in minutes
	$(PYTEST) -p no:schemathesis -m "not slow" tests src $(FLAGS)

check: $(VENV)/.all          ## format, lint, strict types, docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python docs/generate.py --check

test-all: $(VENV)/.all page test-adapters ## run the rest: processes, kills, a browser, lives, and many examples of each property
	$(BIN)/python tests/browser/finding.py
	$(PYTEST) -m "slow or hypothesis" --hypothesis-profile=many tests src $(FLAGS)

test-adapters: $(ADAPTERS)/.all ## test the shapes of other libraries against these, in an environment of their own
	$(ADAPTERS)/bin/python -m pytest --numprocesses=auto --dist=worksteal -p no:benchmark -o asyncio_mode=auto -o asyncio_default_fixture_loop_scope=function -m adapters tests/adapters $(FLAGS)

portability: $(VENV)/.all    ## run the tests by every CPython there is, compare what Priming does by each, and say what is lacking
	$(BIN)/python tests/portability.py $(FLAGS)

explore: $(VENV)/.all        ## look for failures with other examples of each property, at each call
	$(PYTEST) -m "hypothesis" --hypothesis-profile=others tests src $(FLAGS)

test-agents: $(VENV)/.all    ## play scenes in the real clients, which npm installs, with a model of our own on loopback
	$(PYTEST) -m agents tests/agents $(FLAGS)

retest-agents: $(VENV)/.all  ## play them in what npm has today, and write docs/tested-clients.md
	$(BIN)/python tests/agents/retest.py $(FLAGS)

house: $(VENV)/.base          ## measure the house: sizes, circles, names, and what a call enters; FLAGS=--install for a fresh install
	$(BIN)/python tests/house.py $(FLAGS)

bench: $(VENV)/.bench        ## measure speed, as ratios, and quality where PRIMING_BENCH_DATA is; FLAGS=--quick for less
	$(BIN)/python benchmarks/run.py $(FLAGS)

page: web/node_modules/axe-core  ## build the page from web into build/page, with Node.js and npm; strict types
	cd web && npx tsc --noEmit && npx vite build --logLevel=error

docs: $(VENV)/.all           ## run what the docs show, and paste the output
	$(BIN)/python docs/generate.py

reference: $(VENV)/.base     ## write the reference of commands, verbs, HTTP and constants into build/reference
	$(BIN)/python docs/reference.py

site: $(VENV)/.docs          ## build the docs and the reference as a site with a search, into build/site
	$(BIN)/python docs/website.py

clean:                       ## remove the virtual environment and caches
	rm -rf $(VENV) .venv-* build web/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis

web/node_modules/axe-core: web/package-lock.json
	cd web && npm ci --ignore-scripts
	touch $@

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Priming needs Python 3.11 or newer; name one: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml hatch_build.py | $(BIN)/python
	$(PIP) install --editable .
	touch $@

$(VENV)/.sleep: pyproject.toml hatch_build.py | $(BIN)/python
	$(PIP) install --editable '.[sleep]'
	touch $@ $(VENV)/.base

$(VENV)/.all: pyproject.toml hatch_build.py | $(BIN)/python
	$(PIP) install --editable '.[test,check,docs]'
	touch $@ $(VENV)/.base $(VENV)/.sleep

$(ADAPTERS)/.all: pyproject.toml hatch_build.py
	$(PYTHON) -m venv $(ADAPTERS)
	$(ADAPTERS)/bin/python -m pip --disable-pip-version-check --quiet install --no-compile --editable '.[test-adapters]'
	touch $@

$(VENV)/.bench: pyproject.toml hatch_build.py | $(BIN)/python
	$(PIP) install --editable '.[bench]'
	touch $@

$(VENV)/.docs: pyproject.toml hatch_build.py | $(BIN)/python
	$(PIP) install --editable '.[docs]'
	touch $@
