"""What the paper proves: bounds on the distances between models and on the gradients."""

from flexpress.theory.advice import Advice, Trial, advise
from flexpress.theory.bounds import (
    Bound,
    Constants,
    RoundTrips,
    lemma1,
    lemma2_global,
    lemma2_local,
    theorem1,
    theorem1_simplified,
    theorem2,
    theorem3,
)
from flexpress.theory.estimates import Estimate, Estimates, estimate
from flexpress.theory.forecast import Forecast, forecast
from flexpress.theory.measured import LossFunction, Measured, measure
from flexpress.theory.outlook import Outlook, Skew, outlook
from flexpress.theory.quadratic_constants import exact_constants
from flexpress.theory.rates import (
    best_rate,
    paper_order,
    paper_rate,
    slots_to,
    soonest,
    stable_rate,
)
from flexpress.theory.stability import Growth, growth

__all__ = [
    "Advice",
    "Bound",
    "Constants",
    "Estimate",
    "Estimates",
    "Forecast",
    "Growth",
    "LossFunction",
    "Measured",
    "Outlook",
    "RoundTrips",
    "Skew",
    "Trial",
    "advise",
    "best_rate",
    "estimate",
    "exact_constants",
    "forecast",
    "growth",
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
    "theorem3",
]
