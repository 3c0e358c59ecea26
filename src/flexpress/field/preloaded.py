"""What the process has loaded from which all programs of a rehearsal are forked.

Nobody else may import this: its only purpose is what importing it does. Compiled code takes a third
of a second to load, and each client of a rehearsal would do so by itself.
"""

from contextlib import suppress

import flexpress.field.rehearsal  # noqa: F401  # with all programs
from flexpress.learning import make_learner
from flexpress.scenario import Scenario

with suppress(Exception):  # a program that needs it will say what is wrong
    make_learner(Scenario.preset("four"))
