"""Who flies where: plans, objectives, and the solvers `search`, `carp` and `exact`."""

from typing import TYPE_CHECKING

from flexpress.lazy import lazy_names
from flexpress.planning.plan import Plan, Tour
from flexpress.planning.plan_file import load_plan, plan_to_json, save_plan
from flexpress.planning.problem import Problem
from flexpress.planning.progress import Progress
from flexpress.planning.solve import check_effort, make_plan

if TYPE_CHECKING:
    from flexpress.planning.bounds import certify_plan, check_certify
    from flexpress.planning.diagnosis import diagnose
    from flexpress.planning.export import export_notes, export_plan, parse_origin
else:  # few need these, and they load more
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "bounds": "certify_plan check_certify",
            "diagnosis": "diagnose",
            "export": "export_notes export_plan parse_origin",
        },
    )

__all__ = [
    "Plan",
    "Problem",
    "Progress",
    "Tour",
    "certify_plan",
    "check_certify",
    "check_effort",
    "diagnose",
    "export_notes",
    "export_plan",
    "load_plan",
    "make_plan",
    "parse_origin",
    "plan_to_json",
    "save_plan",
]
