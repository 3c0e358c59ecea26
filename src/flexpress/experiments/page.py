"""The page of the reproduction: a section for every figure, made from the runs of a study.

It can be mailed: it refers to nothing that it does not carry, except its own figures folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flexpress.experiments.claims import claims_of
from flexpress.experiments.data import (
    claims_csv,
    differences_csv,
    figure_csv,
    findings_json,
    sweep_csv,
)
from flexpress.experiments.figures import Figure
from flexpress.experiments.pictures import pictures_of, sweep_picture, tours_picture
from flexpress.experiments.protocol import DatasetName, as_flown, as_paper, protocol
from flexpress.experiments.results import Results, read_results
from flexpress.experiments.study import Study
from flexpress.experiments.sweeps import Sweep
from flexpress.experiments.swept import SweptPoint, measure_sweep, where_surely
from flexpress.experiments.tables import (
    claims_grid,
    data_name,
    lines_grid,
    networks_grid,
    statements_grid,
    summary_grid,
    sweep_grid,
)
from flexpress.experiments.verdicts import VERDICTS, Finding, headline, judge
from flexpress.files.versions import versions
from flexpress.report.page.page import Download, Page, PageSection

PAPER = (
    'J. Bian, C. Shen, J. Xu: "Joint Client Assignment and UAV Route Planning for '
    'Indirect-Communication Federated Learning", arXiv:2304.10744, 2023.'
)


def reproduction_page(
    figures: Sequence[Figure],
    sweeps: Sequence[Sweep],
    study: Study,
    runs: Path,
    *,
    command: str,
) -> Page:
    """`runs` has a folder for each run; `command` is what was typed, without --figure."""
    results = read_results(study, runs)
    findings = judge(study, results, claims_of(figures))
    tested = [summary_grid(findings), statements_grid()] if findings else []
    return Page(
        title="FedEx, reproduced",
        lead=tuple(_lead(study, findings)),
        summary=tuple(tested),
        sections=(
            *(_figure_section(each, study, results, findings, command) for each in figures),
            *(_sweep_section(each, study, results, command) for each in sweeps),
            *_tours_section(study, runs),
            _protocol_section(study),
            _data_section(findings),
        ),
        footer=(_footer(study, results),),
    )


def _lead(study: Study, findings: Sequence[Finding]) -> list[str]:
    paper, flown = protocol().readings
    found = [f"The experiments of {PAPER}"]
    if findings:
        found.append(_counts(findings))
    found += [
        f"{paper.title}: time in whole slots, plans by the paper's own planner CARP, "
        "which minimises costs in whole slots; this decides. "
        f"{flown.title}: round trips as long as they are, plans by our search. The "
        "server follows the paper's rule in both.",
        "Differences are of mean test accuracy over all slots, in percentage points, unless "
        "another measure is named; positive agrees with the paper. In brackets: 95 % intervals"
        f"{_unit_text(study)}. Undecided: the interval leaves both open, so the claim may be true.",
    ]
    return found + _quick_text(study)


def _counts(findings: Sequence[Finding]) -> str:
    """Of the claims that were tested, by the paper's reading."""
    decided = [finding.verdict for finding in headline(findings)]
    counts = [(verdict, decided.count(verdict)) for verdict in VERDICTS]
    tested = sum(count for verdict, count in counts if verdict in VERDICTS[:3])
    of_tested = ", ".join(f"{count} {verdict}" for verdict, count in counts[:3] if count)
    others = "".join(f" {count} {verdict}." for verdict, count in counts[3:] if count)
    shown = f": {of_tested}" if of_tested else ""
    return f"Of {len(decided)} claims {tested} were tested, {as_paper().name}{shown}.{others}"


def _unit_text(study: Study) -> str:
    if len(study.networks) > 1:
        return (
            f" over {len(study.networks)} networks, of which each has its own seeds "
            f"({study.seeds} per network)"
        )
    return f" over {study.seeds} seeds on one network: they say nothing about other maps"


def _quick_text(study: Study) -> list[str]:
    if not study.scale.stand_in:
        return []
    full = protocol().full
    return [
        f"This is a quick look: {study.scale.horizon['fmnist']:,} slots instead of "
        f"{full.horizon['fmnist']:,}, {len(study.networks)} networks instead of {full.networks}, "
        "and a part of Fashion-MNIST instead of both data sets. Its verdicts say little. Claims "
        "about SVHN and about convergence are not tested."
    ]


def _figure_section(
    figure: Figure, study: Study, results: Results, findings: Sequence[Finding], command: str
) -> PageSection:
    own = [finding for finding in findings if finding.claim.figure == figure]
    claims = [claims_grid(own, study), networks_grid(own)] if own else []
    lines = [lines_grid(figure, results)] if figure.kind == "curves" else []
    return PageSection(
        anchor=figure.name,
        title=figure.title + (_shown_mark(study, figure.dataset) if lines else ""),
        text=(f"The paper's {figure.place}.", figure.about),
        pictures=pictures_of(figure, study, results),
        tables=(*claims, *lines),
        command=f"{command} --figure {figure.name}",
        downloads=(Download(f"{figure.name}.csv", figure_csv(figure, study, results)),),
    )


def _shown_mark(study: Study, dataset: DatasetName) -> str:
    """Ends the title of every section whose data are not those that it is about."""
    return f" [shown: {data_name(study.scale, dataset)}]" if study.scale.stand_in else ""


def _sweep_section(sweep: Sweep, study: Study, results: Results, command: str) -> PageSection:
    points = measure_sweep(sweep, results)
    with_svhn = any(setting.dataset == "svhn" for setting in sweep.settings)
    return PageSection(
        anchor=sweep.name,
        title=f"Beyond the paper: {sweep.title}"
        + _shown_mark(study, "svhn" if with_svhn else "fmnist"),
        text=(sweep.about, *_advice(sweep, points)),
        pictures=(sweep_picture(sweep, points),),
        tables=(sweep_grid(sweep, points),),
        command=f"{command} --figure {sweep.name}",
        downloads=(Download(f"{sweep.name}.csv", sweep_csv(sweep.name, points)),),
    )


def _advice(sweep: Sweep, points: list[SweptPoint]) -> list[str]:
    """When to fly which, as far as the intervals say."""
    if sweep.name != "remote":
        return []
    flown = as_flown()
    ahead, behind = (
        ", ".join(f"{x:g}" for x in where_surely(points, flown.name, sign)) for sign in (1, -1)
    )
    if not ahead:
        return [f"{flown.title}, no distance was found at which Async is surely ahead."]
    worse = f" It is behind at {behind} km." if behind else ""
    return [
        f"{flown.title}, Async is ahead with the group {ahead} km away: the whole interval "
        f"is above zero.{worse} So fly Async where one tour is as much longer than the others as "
        "there; elsewhere Sync lost nothing that these runs could show."
    ]


def _tours_section(study: Study, runs: Path) -> list[PageSection]:
    picture = tours_picture(study, runs)
    return [PageSection("tours", "Tours", pictures=(picture,))] if picture else []


def _protocol_section(study: Study) -> PageSection:
    """The protocol word for word, and what this page has of it."""
    scale, its = study.scale, protocol()
    usual = (len(study.networks), study.seeds) == (scale.networks, scale.seeds)
    has = f"{len(study.networks)} networks with {study.seeds} seeds each"
    asked = "as it says" if usual else f"it says {scale.networks} with {scale.seeds}"
    return PageSection(
        "protocol",
        "The protocol",
        text=(
            "Networks, seeds, measures, margins and learning rates were fixed before the runs, in "
            f"the file quoted here (its SHA-256 is {its.digest}). This page follows its part "
            f"[{scale.name}], with {has}: {asked}. No run was stopped early.",
        ),
        quote=its.text,
        downloads=(Download("protocol.toml", its.text),),
    )


def _data_section(findings: Sequence[Finding]) -> PageSection:
    downloads = (
        Download("claims.csv", claims_csv(findings)),
        Download("differences.csv", differences_csv(findings)),
        Download("findings.json", findings_json(findings)),
    )
    return PageSection("data", "All numbers", downloads=downloads)


def _footer(study: Study, results: Results) -> str:
    used = ", ".join(f"{name} {version}" for name, version in versions().items())
    return (
        f"{len(results.by_case)} cases, {len(study.runs)} runs, {len(study.networks)} networks, "
        f"{study.seeds} seeds per network; {used}."
    )
