# Every target makes .venv and installs what it needs; nothing has to be set up by hand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ENV := $(VENV)/.installed

.PHONY: demo test check bench bench-batch clean

demo: $(VENV)/.runtime  ## clean the sample pages with the bundled model
	@$(BIN)/python examples/demo.py

test: $(ENV)  ## the whole test suite
	$(BIN)/python -m pytest -q

check: $(ENV)  ## ruff and mypy strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(ENV)  ## quality and speed beside other cleaners; DATA="KIND:DIR ..." names gold standards
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e '.[peers,research]'
	$(BIN)/python benchmarks/compare.py $(if $(DATA),--data $(DATA)) $(if $(STEP),--step $(STEP)) -o docs
	@echo >> benchmarks/RESULTS.md
	$(BIN)/python benchmarks/stages.py $(if $(DATA),--data $(DATA)) $(if $(STEP),--step $(STEP)) >> benchmarks/RESULTS.md
	$(BIN)/python benchmarks/scaling.py

bench-batch: $(ENV)  ## batch runs: overhead, scaling, memory over many pages, kills; PAGES=DIR names pages, STEP=memory a step
	$(BIN)/python benchmarks/batch.py $(if $(PAGES),--pages $(PAGES)) $(if $(MANY),--many $(MANY)) $(if $(STEP),--step $(STEP)) -o docs

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e .
	@touch $@

$(ENV): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	@touch $@ $(VENV)/.runtime

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
