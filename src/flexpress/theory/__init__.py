"""What the paper proves: bounds on how far models part and how small gradients get."""

from flexpress.theory.advice import Advice, Trial, advise
from flexpress.theory.bounds import (
    Bound,
    lemma1,
    lemma2_global,
    lemma2_local,
    theorem1,
    theorem1_simplified,
    theorem2,
)
from flexpress.theory.constants import Constants, Estimate
from flexpress.theory.estimates import Estimates, estimate
from flexpress.theory.forecast import Forecast, forecast
from flexpress.theory.measured import Measured, measure
from flexpress.theory.objective import Objective
from flexpress.theory.outlook import Outlook, Skew, outlook
from flexpress.theory.quadratic import exact_constants
from flexpress.theory.rates import best_rate, paper_order, paper_rate, slots_to, soonest
from flexpress.theory.stability import stable_rate
from flexpress.theory.tours import Tours

__all__ = [
    "Advice",
    "Bound",
    "Constants",
    "Estimate",
    "Estimates",
    "Forecast",
    "Measured",
    "Objective",
    "Outlook",
    "Skew",
    "Tours",
    "Trial",
    "advise",
    "best_rate",
    "estimate",
    "exact_constants",
    "forecast",
    "lemma1",
    "lemma2_global",
    "lemma2_local",
    "measure",
    "outlook",
    "paper_order",
    "paper_rate",
    "slots_to",
    "soonest",
    "stable_rate",
    "theorem1",
    "theorem1_simplified",
    "theorem2",
]
