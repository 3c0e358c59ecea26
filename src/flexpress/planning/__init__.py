"""Who flies where: plans, objectives, and the solvers `search`, `carp` and `exact`."""

from flexpress.planning.plan import Plan, Tour
from flexpress.planning.plan_file import load_plan, plan_to_json, save_plan
from flexpress.planning.problem import Problem
from flexpress.planning.progress import Progress
from flexpress.planning.solve import make_plan

__all__ = [
    "Plan",
    "Problem",
    "Progress",
    "Tour",
    "load_plan",
    "make_plan",
    "plan_to_json",
    "save_plan",
]
