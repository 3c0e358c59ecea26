# Every target sets up what it needs; all it takes is Python 3.11 or newer with venv and pip.

PYTHON ?= python3
BIN := .venv/bin
PEERS_BIN := .venv-peers/bin
INSTALL := -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4
SOURCES := pyproject.toml constraints.txt src/flexpress/__init__.py

.PHONY: help install demo reproduce test test-all check format bench clean

help:
	@echo "make install    create .venv with flexpress in it"
	@echo "make demo       plan the paper's network, learn on it, plan a flight, rehearse a mission: under a minute, into out/demo"
	@echo "make test       run the tests, on all cores: under four minutes"
	@echo "make reproduce  reproduce the paper on a small scale: two minutes, into out/reproduction"
	@echo "make test-all   run the slow tests too"
	@echo "make check      format, lint and types, without changing anything"
	@echo "make format     format, and mend what the linter can"
	@echo "make bench      measure flexpress beside its peers, on one core"
	@echo "make clean      remove what these targets made"

install: .venv/installed

demo: .venv/compiled
	@rm -rf out/demo
	@$(BIN)/flexpress plan paper --objective minmax --out out/demo/minmax
	@$(BIN)/flexpress plan paper --objective sws --out out/demo/sws
	@$(BIN)/flexpress simulate paper --algorithm all --horizon 200 --plan out/demo/sws --out out/demo/run
	@$(BIN)/flexpress report out/demo/run --out out/demo/report.html
	@$(BIN)/flexpress plan alps --out out/demo/alps
	@$(BIN)/flexpress export out/demo/alps --format qgc --format kml --out out/demo/missions
	@$(BIN)/flexpress map out/demo/alps --out out/demo/flight.html
	@$(BIN)/flexpress rehearse valley --horizon 24 --speedup 100000 --out out/demo/rehearsal
	@echo
	@echo "Done. Everything is in out/demo; open these files:"
	@echo "  minmax/map.png, sws/map.png  two plans for the paper's network of 40 sensors and 4 drones"
	@echo "  report.html                  what the server learned on the second plan: Sync, Async, both with a head start, an ideal link"
	@echo "  flight.html                  a flight in the Alps: move the slider, and the drones fly"
	@echo "  missions/                    the same flight for QGroundControl (.plan) and Google Earth (.kml)"
	@echo "  rehearsal/kits               what server, couriers and clients of a real mission get; docs/field.md says how to use it"

reproduce: .venv/compiled
	@$(BIN)/flexpress reproduce --quick --out out/reproduction
	@echo
	@echo "Done. Open out/reproduction/report.html: the paper's figures and claims, on a small scale."

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
	@$(BIN)/python $(INSTALL) --editable ".[geo,certify,field]"
	@touch $@

# Both at once, a core for each. Without this, each command compiles what it needs, and says so.
.venv/compiled: .venv/installed
	@echo "compiling the planner and the learning engine, once (about 15 s)"
	@$(BIN)/python -c "import flexpress as f; f.make_learner(f.Scenario.preset('paper'))" & \
		$(BIN)/python -c "import flexpress as f; f.make_plan(f.Scenario.preset('four'), iterations=1)"; wait
	@touch $@

.venv/installed-dev: .venv/installed
	@echo "installing the tools for development into .venv"
	@$(BIN)/python $(INSTALL) --editable ".[dev]"
	@touch $@

.venv-peers/installed: $(SOURCES)
	$(call environment,.venv-peers)
	@echo "installing flexpress and its peers into .venv-peers"
	@$(PEERS_BIN)/python $(INSTALL) --editable ".[peers,field]"
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
