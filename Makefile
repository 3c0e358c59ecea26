# Every target sets up what it needs; all it takes is Python 3.11 or newer with venv and pip.

PYTHON ?= python3
BIN := .venv/bin
PEERS_BIN := .venv-peers/bin
INSTALL := -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4
SOURCES := pyproject.toml constraints.txt src/flexpress/__init__.py

.PHONY: help install demo test test-all check format bench clean

help:
	@echo "make install    create .venv with flexpress in it"
	@echo "make demo       plan the paper's network, learn on it, fly in the Alps, reproduce the paper quickly: into out/demo"
	@echo "make test       run the tests, on all cores: minutes"
	@echo "make test-all   run the slow tests too"
	@echo "make check      format, lint and types, without changing anything"
	@echo "make format     format, and mend what the linter can"
	@echo "make bench      measure flexpress beside its peers, on one core"
	@echo "make clean      remove what these targets made"

install: .venv/installed

demo: .venv/installed
	@$(BIN)/flexpress plan paper --objective minmax --out out/demo/minmax
	@$(BIN)/flexpress plan paper --objective sws --out out/demo/sws
	@$(BIN)/flexpress simulate paper --algorithm sync --algorithm async --horizon 300 --plan out/demo/sws --out out/demo/run
	@$(BIN)/flexpress plan alps --out out/demo/alps
	@$(BIN)/flexpress export out/demo/alps --format qgc --format kml
	@$(BIN)/flexpress map out/demo/alps
	@$(BIN)/flexpress reproduce --quick --out out/demo/reproduction

test: .venv/installed-dev
	@$(PYTEST) -m "not slow"

test-all: .venv/installed-dev
	@$(PYTEST)

check: .venv/installed-dev
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy

format: .venv/installed-dev
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: .venv-peers/installed .venv-flower/installed .venv-pfl/installed
	@$(PEERS_BIN)/python benchmarks/run.py $(BENCH)

clean:
	rm -rf .venv .venv-peers .venv-flower .venv-pfl out build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
	rm -rf src/flexpress.egg-info

.venv/installed: $(SOURCES)
	$(call environment,.venv)
	@echo "installing flexpress into .venv"
	@$(BIN)/python $(INSTALL) --editable ".[geo,certify]"
	@touch $@

.venv/installed-dev: .venv/installed
	@echo "installing the tools for development into .venv"
	@$(BIN)/python $(INSTALL) --editable ".[dev]"
	@touch $@

.venv-peers/installed: $(SOURCES)
	$(call environment,.venv-peers)
	@echo "installing flexpress and its peers into .venv-peers"
	@$(PEERS_BIN)/python $(INSTALL) --editable ".[peers]"
	@touch $@

# Flower and pfl ask for versions that neither we nor they can share. What cannot be installed is
# left out of the benchmarks, which then say so.
.venv-flower/installed .venv-pfl/installed: .venv-%/installed: benchmarks/%.txt
	$(call environment,.venv-$*)
	@echo "installing $* into .venv-$*"
	@.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check --requirement $< \
		&& touch $@ || echo "$* could not be installed, and will be left out" >&2

define environment
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null || \
		{ echo "flexpress needs Python 3.11 or newer, and $(PYTHON) is not;" \
		"name one: make PYTHON=python3.11" >&2; exit 1; }
	@test -x $(1)/bin/python || $(PYTHON) -m venv $(1)
endef
