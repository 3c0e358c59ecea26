"""Lower bounds: proves how far a plan is from the optimum, or that no plan keeps the budgets."""

from flexpress.planning.bounds.certificate import LowerBound, certify_plan, check_certify, load

__all__ = ["LowerBound", "certify_plan", "check_certify", "load"]
