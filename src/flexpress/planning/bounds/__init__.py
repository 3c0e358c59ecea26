"""Lower bounds: how good a plan can still get, and that no plan can keep the budgets."""

from flexpress.planning.bounds.certificate import Bound, certify_plan, check_certify

__all__ = ["Bound", "certify_plan", "check_certify"]
