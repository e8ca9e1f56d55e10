# Everything works from a fresh checkout with Python 3.10 or later (`make PYTHON=python3.12 test`).

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin

.PHONY: demo test test-recorder check format index catalogues site clean

# What gradtrail says of the programs in examples/ (findings are expected there: status 1 is a success), what a pasted
# error means, and the table of what people ask about.
demo: .venv/installed
	$(BIN)/gradtrail check examples/ || test $$? -eq 1
	$(BIN)/gradtrail explain "RuntimeError: Can't call numpy() on Tensor that requires grad"
	$(BIN)/python scripts/matrix.py

test: .venv/installed-test
	$(BIN)/python -m pytest -n auto

# The recorder and all that a run tells, with another Python and its own torch: `make PYTHON=python3.12 test-recorder`. From 3.12 on
# lines are watched in another way. (The torch of PyPI for a Python newer than 3.11 may be a build of several gigabytes.)
test-recorder:
	$(PYTHON) -m venv .venv-recorder
	.venv-recorder/bin/python -m pip install --quiet --disable-pip-version-check --editable . torch numpy matplotlib pytest
	.venv-recorder/bin/python -m pytest tests/runtime
	.venv-recorder/bin/python benchmarks/overhead.py

# Form, types, and what may import what.
check: .venv/installed-dev
	$(BIN)/ruff format --check src tests scripts benchmarks
	$(BIN)/ruff check src tests scripts benchmarks
	$(BIN)/mypy --strict src
	$(BIN)/python scripts/make_rule_index.py --check
	$(BIN)/python scripts/make_catalogues.py --check
	$(BIN)/python -m pytest -q tests/test_floors.py

format: .venv/installed-dev
	$(BIN)/ruff format src tests scripts benchmarks
	$(BIN)/ruff check --fix src tests scripts benchmarks

index: .venv/installed
	$(BIN)/python scripts/make_rule_index.py

# The sentences in other languages: gathers new ones, compiles what is translated.
catalogues: .venv/installed-dev
	$(BIN)/python scripts/make_catalogues.py

# The documentation site, in build/site.
site: .venv/installed-test
	$(BIN)/python scripts/make_site.py

clean:
	rm -rf .venv .venv-recorder build .pytest_cache .mypy_cache .ruff_cache .hypothesis

.venv/made:
	$(PYTHON) -m venv .venv
	touch $@

.venv/installed: .venv/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[tiny]'
	touch $@

.venv/installed-test: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

.venv/installed-dev: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' pytest
	touch $@
