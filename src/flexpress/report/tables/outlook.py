"""What the theory promises, and the advice that follows: for the terminal and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

from rich.console import Console

from flexpress.report.tables.columns import Column, print_columns
from flexpress.report.texts import column
from flexpress.scenario import Clock, Scenario
from flexpress.theory import Estimate, Estimates, Forecast, Outlook
from flexpress.theory.bounds import theorem3_rate
from flexpress.theory.forecast import theorem_name

_CLOCKS: dict[Clock, str] = {
    "slots": "Round trips are rounded up to whole slots, which can reverse the order of "
    'plans; run.clock = "exact" does not round.',
    "exact": "The theorems assume whole slots; for exact round trips they are only a guide.",
}

_MANY = 10**7
"""Larger numbers of slots are written as powers of ten."""


def show_outlook(console: Console, outlook: Outlook, estimates: Estimates) -> None:
    """Print one row per plan and algorithm, then the constants, the skew and the advice."""
    columns = _outlook_columns(outlook)
    print_columns(console, columns)
    console.print()
    for line in [
        *_explanation(outlook),
        *_constant_lines(estimates, dissimilarity=outlook.head_start > 0),
        _skew_line(outlook),
    ]:
        console.print(f" {line}", soft_wrap=True)
    console.print()
    advice = [outlook.advice.sentence, outlook.advice.head_start_sentence]
    for line in [*_cautions(outlook), *filter(None, advice)]:
        console.print(f" {line}", soft_wrap=True)


def _outlook_columns(outlook: Outlook) -> list[Column]:
    rows = outlook.forecasts
    bounds = [row.bound for row in rows]
    return [
        ("flown", "", [f"{row.algorithm} {row.objective}" for row in rows]),
        ("tours", "slots", [_tours_text(row) for row in rows]),
        ("start", "", column([bound.start + bound.first_tour for bound in bounds], 3)),
        ("delay", "", column([bound.delay for bound in bounds], 3)),
        ("noise", "", column([bound.noise for bound in bounds], 3)),
        ("bound", "", column([bound.total for bound in bounds], 3)),
        ("until", "slots", [_count(row.slots_alike) for row in rows]),
        ("stable", "rate", [_power(f"{row.stable_rate:.1e}") for row in rows]),
        ("tried", "", _tried(outlook)),
    ]


def _tried(outlook: Outlook) -> list[str]:
    """Mean accuracy of the rows that were tried."""
    flown = {(trial.algorithm, trial.objective): trial.accuracy for trial in outlook.trials}
    texts = {key: "diverged" if value is None else f"{value:.1%}" for key, value in flown.items()}
    return [texts.get((row.algorithm, row.objective), "-") for row in outlook.forecasts]


def _tours_text(row: Forecast) -> str:
    """The shortest and the longest tour."""
    ends = f"{min(row.tours.slots):.3g}", f"{max(row.tours.slots):.3g}"
    return "-".join(dict.fromkeys(ends))


def _count(slots: int) -> str:
    """Very large numbers as powers of ten."""
    return f"{slots:,}" if slots < _MANY else _power(f"{slots:.3e}")


def _power(text: str) -> str:
    """Without leading zeros and plus in the exponent: 2.3e-4, 1.35e9."""
    digits, exponent = text.split("e")
    return f"{digits}e{int(exponent)}"


def _explanation(outlook: Outlook) -> list[str]:
    gamma = outlook.head_start
    theorem = theorem_name("sync", gamma)
    lines = [
        f"bound:  of |grad f|² on average over {outlook.horizon:,} slots, with the rate that makes "
        "it smallest,",
        f"        by {theorem} for sync, by Theorem 2 for async, whose factors are larger: compare",
        "        plans by it, not algorithms",
        f"until:  slots after which it can be down to {outlook.target:.2g}, by Theorem 2 for both",
        "stable: largest learning rate, up to 1/L, at which old updates do not swing, by a "
        "quadratic",
    ]
    if gamma:
        lines.append(
            f"with:   head_start = {gamma:g}; "
            "Theorem 2 holds with it, but does not show what it gains"
        )
    if outlook.trials:
        lines.append(
            f"tried:  mean accuracy over {outlook.trials[0].slots} slots at learning rate "
            f"{outlook.learning_rate:g}, each algorithm on its best plan"
        )
    return lines


def _constant_lines(estimates: Estimates, *, dissimilarity: bool) -> list[str]:
    """Only Theorem 3 needs the dissimilarity."""
    named = [
        ("L", estimates.smoothness, "Hessian-vector products"),
        ("G", estimates.gradient, "mini-batches"),
        ("sigma", estimates.noise, "mini-batches"),
    ]
    if dissimilarity and estimates.dissimilarity is not None:
        named.append(("zeta", estimates.dissimilarity, "clients' gradients"))
    return [
        *(f"{name} {_estimate_text(each, what)}" for name, each, what in named),
        f"f(x⁰) - f* at most {estimates.start_gap:.3g}, "
        f"|grad f(x⁰)|² {estimates.start_gradient:.3g}",
    ]


def _estimate_text(estimate: Estimate, what: str) -> str:
    spread = f"on average {estimate.mean:.3g} ± {estimate.deviation:.2g}"
    return f"{estimate.value:.3g} the largest seen, {spread}, over {estimate.samples:,} {what}"


def _skew_line(outlook: Outlook) -> str:
    plans = ", ".join(f"{name} {skew.mean:.2f}" for name, skew in outlook.skews.items())
    return f"skew of labels from transporter to transporter (total variation): {plans}"


def _cautions(outlook: Outlook) -> list[str]:
    """What the theorems do not say."""
    lines = []
    limits = [f"{limit}, up to which {what}" for limit, what in _exceeded(outlook)]
    if limits:
        above = ", and above ".join(limits)
        lines.append(f"learning.learning_rate {outlook.learning_rate:g} is above {above}.")
    known = outlook.constants.start_gradient
    if min(row.bound.total for row in outlook.forecasts) > known:
        lines.append(
            f"After {outlook.horizon:,} slots no bound is below |grad f(x⁰)|² = {known:.2g}: they "
            "hold for the worst case. Compare them; do not plan by their slots."
        )
    lines.append(_CLOCKS[outlook.clock])
    return lines


def _exceeded(outlook: Outlook) -> Iterator[tuple[str, str]]:
    """The limits that the learning rate is above, and what holds up to them."""
    constants, rate, gamma = outlook.constants, outlook.learning_rate, outlook.head_start
    if gamma:
        limit = min(theorem3_rate(constants, row.tours, gamma) for row in outlook.forecasts)
        if rate > limit:
            yield f"{limit:.3g}", "Theorem 3 holds"
    if rate > constants.largest_rate:
        holds = "Theorem 2 holds" if gamma else "the theorems hold"
        yield f"1/L = {constants.largest_rate:.3g}", holds


def outlook_to_json(scenario: Scenario, outlook: Outlook, estimates: Estimates) -> str:
    """One object: the settings, constants, forecasts, trials and the advice."""
    document = {
        "scenario": scenario.name,
        "seed": scenario.seed,
        "learning_seed": scenario.learning_seed,
        "clock": outlook.clock,
        "slot_seconds": scenario.slot,
        "horizon": outlook.horizon,
        "target": outlook.target,
        "learning_rate": outlook.learning_rate,
        "head_start": outlook.head_start,
        "largest_rate": outlook.constants.largest_rate,
        "constants": asdict(estimates),
        "forecasts": [_forecast_document(row) for row in outlook.forecasts],
        "skew": {name: asdict(skew) for name, skew in outlook.skews.items()},
        "trials": [asdict(trial) for trial in outlook.trials],
        "head_start_trials": [asdict(trial) for trial in outlook.head_start_trials],
        "advice": asdict(outlook.advice),
    }
    return json.dumps(document, indent=2, allow_nan=False)


def _forecast_document(row: Forecast) -> dict[str, object]:
    return {**asdict(row), "bound": {**asdict(row.bound), "total": row.bound.total}}
