"""`flexpress`, but a quick reproduction is a matter of seconds, and tells of every change.

A program: `python small_flexpress.py MODEL reproduce --quick ...`. Runs of lenet are long enough
to be disturbed, those of logistic are over at once. What is set here is set in its workers too, as
they begin by reading the same file.
"""

from __future__ import annotations

import sys
from functools import partial

from small_scale import SMALL

from flexpress.cli import main, progress
from flexpress.experiments import plans, protocol, reproduce, setting
from flexpress.planning import make_plan
from flexpress.scenario import Scenario
from flexpress.simulation import run_files

BARREN = 245
"""The seed of a network on which no plan keeps 12 kJ: here it is network 2."""

setattr(reproduce, "_scale_of", lambda quick, networks: SMALL)  # noqa: B010  # to mypy no variable
run_files._CHECKPOINT_SECONDS = 0.05
progress._PLAIN_SECONDS = 0.0


place = setting.Setting.scenario


def elsewhere(its: setting.Setting, scale: protocol.Scale, network: int, seed: int) -> Scenario:
    placed = place(its, scale, BARREN if network == 2 else network, seed)
    return placed.replace(learning={"model": sys.argv[1]})


setattr(setting.Setting, "scenario", elsewhere)  # noqa: B010  # to mypy a method is no variable
setattr(plans, "make_plan", partial(make_plan, iterations=3000))  # noqa: B010  # nor a function

if __name__ == "__main__":
    sys.exit(main(sys.argv[2:]))
