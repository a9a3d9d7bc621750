# Every target creates .venv and installs what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ENV := $(VENV)/.installed
RESULTS := benchmarks/results
NATIVE := hatch_build.py $(wildcard victorpy/native/*.p??)

unexport PYTHONDONTWRITEBYTECODE  # every process would compile all modules that it imports

SNAPSHOTS := tests/cases/snapshots
SNAPSHOT_TESTS = $(shell grep -rl --include='test_*.py' 'support.*snapshots' tests)

.PHONY: demo test quick snapshots check bench bench-batch wheel fuzz fuzz-native soak mutants clean

demo: $(VENV)/.runtime  ## clean the sample pages with the bundled model
	@$(BIN)/python examples/demo.py

test: $(ENV)  ## the whole test suite
	$(BIN)/python -m pytest -q

quick: $(ENV)  ## the tests of daily work: fast, without worker processes, Spark or browsers
	$(BIN)/python -m pytest -q -n 2 -m "not slow and not processes and not spark and not browser"

snapshots: $(ENV)  ## write what victorpy does now as what the tests expect; review the changes with git diff
	$(BIN)/python -m pytest -qq -n 0 --collect-only $(SNAPSHOT_TESTS) > /dev/null
	rm -f $(SNAPSHOTS)/*.json
	SNAPSHOTS=write $(BIN)/python -m pytest -q -n 0 $(SNAPSHOT_TESTS)
	git --no-pager diff --stat -- $(SNAPSHOTS)

check: $(ENV)  ## ruff and mypy strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(ENV)  ## quality and speed compared with other cleaners; DATA="KIND:DIR ..." names gold standards, STEP=10 every tenth page
	-$(BIN)/python -m pip install --quiet --upgrade pip  # pip 23.2 cannot install two of the peers together
	-$(BIN)/python -m pip install --quiet -e '.[peers,research]'
	$(BIN)/python -m benchmarks.compare $(if $(DATA),--data $(DATA)) $(if $(STEP),--step $(STEP)) -o $(RESULTS)
	@echo >> $(RESULTS)/RESULTS.md
	$(BIN)/python -m benchmarks.stages $(if $(DATA),--data $(DATA)) $(if $(STEP),--step $(STEP)) >> $(RESULTS)/RESULTS.md
	$(BIN)/python -m benchmarks.scaling

bench-batch: $(ENV)  ## batch runs: overhead, scaling, memory over many pages; PAGES=DIR names pages, STEP=memory a step
	$(BIN)/python -m benchmarks.batch $(if $(PAGES),--pages $(PAGES)) $(if $(MANY),--many $(MANY)) $(if $(STEP),--step $(STEP))

wheel: $(ENV)  ## an sdist and a wheel in dist/, tried in empty environments
	rm -rf dist
	VICTOR_NATIVE=1 $(BIN)/python -m build --quiet
	$(BIN)/python -m tools.try_wheel dist

fuzz: $(ENV)  ## mutated inputs through every part that reads or writes files; SECONDS=600 sets the time, TARGET=anno one part
	$(BIN)/python tests/fuzz/run.py --seconds $(or $(SECONDS),120) $(addprefix --target ,$(TARGET))

fuzz-native: $(ENV)  ## mutated pages through the native core under ASAN and UBSAN; SECONDS=600 sets the time
	$(BIN)/python tests/fuzz/run.py --sanitize --seconds $(or $(SECONDS),120)

soak: $(ENV)  ## batch runs with signals, full disks and damaged inputs, then 100,000 pages; COUNT=50 sets how often
	$(BIN)/python -m benchmarks.soak --count $(or $(COUNT),50) --many 100000

mutants: $(ENV)  ## plant random bugs and report the share that the tests catch; COUNT=300 SEED=1 PACKAGE=page
	$(BIN)/python -m tools.mutants --count $(or $(COUNT),300) --seed $(or $(SEED),1) --package "$(PACKAGE)"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# --no-compile: Python compiles the modules that are imported, a small part of them all.
$(VENV)/.runtime: pyproject.toml $(NATIVE) | $(BIN)/python
	@echo "Installing victorpy into $(VENV), which takes about a minute"
	$(BIN)/python -m pip install --quiet --no-compile -e .
	@touch $@

$(ENV): pyproject.toml $(NATIVE) | $(BIN)/python
	@echo "Installing victorpy and its tools into $(VENV), which takes a minute or two"
	$(BIN)/python -m pip install --quiet --no-compile -e '.[dev]'
	@touch $@ $(VENV)/.runtime

clean:
	rm -rf $(VENV) build dist victorpy/native/*.cpp victorpy/native/*.so .pytest_cache .mypy_cache .ruff_cache .hypothesis
