# Every target sets up what it needs; all it takes is Python 3.11 or newer with venv and pip.

PYTHON ?= python3
BIN := .venv/bin
PEERS_BIN := .venv-peers/bin
INSTALL := -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# Output of commands that run side by side is not mixed, where make can do that.
WHOLE_LINES := $(if $(filter output-sync,$(.FEATURES)),--output-sync=line)
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4
SOURCES := pyproject.toml constraints.txt src/flexpress/__init__.py

.PHONY: help install demo demo-paper demo-alps reproduce test test-all check format bench clean

help:
	@echo "make install    create .venv with flexpress in it"
	@echo "make demo       plan the paper's network, learn on it, plan a flight in the Alps: under a minute, into out/demo"
	@echo "make reproduce  reproduce the paper on a small scale: under two minutes, into out/reproduction"
	@echo "make test       run the tests, on all cores: under four minutes"
	@echo "make test-all   run the slow tests too"
	@echo "make check      format, lint and types, without changing anything"
	@echo "make format     format, and mend what the linter can"
	@echo "make bench      measure flexpress beside its peers, on one core"
	@echo "make clean      remove what these targets made"

install: .venv/installed

# Two chains side by side, since each has code to compile on its first run. Every command has a folder
# of its own: none writes where another did.
demo: .venv/installed
	@rm -rf out/demo
	@$(MAKE) --no-print-directory --jobs 2 $(WHOLE_LINES) demo-paper demo-alps
	@echo
	@echo "Made in out/demo; open these:"
	@echo "  report/report.html  what the server learns: Sync, Async, and an ideal link"
	@echo "  sws/map.png         four drones on the paper's network"
	@echo "  alps.html           a flight in the Alps: move the slider"
	@echo "  missions/           its missions for QGroundControl, and tracks for Google Earth"
	@echo "Next: make reproduce, or flexpress scenario valley > mine.toml"

demo-paper:
	@echo "planning the paper's network, for FedEx-Sync and for FedEx-Async"
	@$(BIN)/flexpress plan paper --objective minmax --out out/demo/minmax
	@$(BIN)/flexpress plan paper --objective sws --out out/demo/sws
	@echo "learning along the second plan"
	@$(BIN)/flexpress simulate paper --algorithm all --horizon 200 --plan out/demo/sws --out out/demo/run
	@$(BIN)/flexpress report out/demo/run --out out/demo/report/report.html

demo-alps:
	@echo "planning a flight in the Alps, around two no-fly zones"
	@$(BIN)/flexpress plan alps --out out/demo/alps
	@$(BIN)/flexpress export out/demo/alps --format qgc --format kml --out out/demo/missions
	@$(BIN)/flexpress map out/demo/alps --out out/demo/alps.html

reproduce: .venv/installed
	@$(BIN)/flexpress reproduce --quick --out out/reproduction

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
