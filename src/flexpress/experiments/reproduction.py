"""The page that lies beside the paper, out of the runs of a study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flexpress.experiments.claim_grids import networks_grid, summary_grid
from flexpress.experiments.claims import MARGIN, claims_of
from flexpress.experiments.figure_sections import NETWORK, figure_section
from flexpress.experiments.figures import ASYNC, SYNC, Figure
from flexpress.experiments.results import Results, read_results
from flexpress.experiments.setting import FULL
from flexpress.experiments.study import Study
from flexpress.experiments.tables import claims_csv, findings_json
from flexpress.experiments.verdicts import VERDICTS, Finding, depends_on_the_map, judge
from flexpress.files.versions import versions
from flexpress.report.figures.picture import Picture, draw_picture
from flexpress.report.figures.timeline import slots_shown, timeline_figure, timeline_of
from flexpress.report.page.page import Download, Page, Section
from flexpress.simulation.stored_run import load_run


def reproduction_page(figures: Sequence[Figure], study: Study, runs: Path, *, command: str) -> Page:
    """`runs` has a folder for each run; `command` is what was typed, without --figure."""
    results = read_results(study, runs)
    findings = judge(study, results, claims_of(figures))
    several = [networks_grid(depends_on_the_map(findings))] if len(study.networks) > 1 else []
    sections = [figure_section(each, study, results, findings, command) for each in figures]
    return Page(
        title="FedEx, reproduced",
        lead=tuple(lead(study, findings)),
        summary=(summary_grid(findings), *several),
        sections=(*sections, *tours_section(study, runs), data_section(findings)),
        footer=(footer(study, results),),
    )


def lead(study: Study, findings: Sequence[Finding]) -> list[str]:
    here = [finding for finding in findings if finding.network == NETWORK]
    counts = [(verdict, sum(each.verdict == verdict for each in here)) for verdict in VERDICTS]
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts if count)
    found = [
        f"Of {len(here)} claims of the paper: {told}." if here else "",
        "Differences are of test accuracy on average over all slots, in percentage points, paired "
        "by seed: positive is as the paper has it, and a tie is a difference of less than "
        f"{100 * MARGIN:g} points. Undecided: the interval leaves both open.",
    ]
    if study.scale.stand_in:
        found.append(
            f"This is a quick look: {study.scale.horizon:,} slots instead of {FULL.horizon:,}, "
            f"{len(study.seeds)} seeds instead of {FULL.seeds}, and a part of Fashion-MNIST stands "
            "in for both data sets; with i.i.d. data their runs are the same. Its verdicts say "
            "little."
        )
    return [text for text in found if text]


def tours_section(study: Study, runs: Path) -> list[Section]:
    """Who flies when, who waits, which model is aboard: if both algorithms are there."""
    seed = study.seeds[0]
    keys = [study.keys.get((setting, NETWORK, seed)) for setting in (SYNC, ASYNC)]
    if None in keys:
        return []
    return [Section("tours", "Tours", pictures=(tours_picture(runs, [str(key) for key in keys]),))]


def tours_picture(runs: Path, keys: Sequence[str]) -> Picture:
    traces = [load_run(runs / key).trace for key in keys]
    slots = max(map(slots_shown, traces))
    shown = [
        timeline_of(trace, name, slots)
        for trace, name in zip(traces, ("Sync", "Async"), strict=True)
    ]
    alt = "When each transporter flies and waits, whom it meets, and which model it carries"
    return draw_picture("tours", alt, lambda theme: timeline_figure(shown, theme=theme))


def data_section(findings: Sequence[Finding]) -> Section:
    downloads = (
        Download("claims.csv", claims_csv(findings)),
        Download("findings.json", findings_json(findings)),
    )
    return Section("data", "All numbers", downloads=downloads)


def footer(study: Study, results: Results) -> str:
    used = ", ".join(f"{name} {version}" for name, version in versions().items())
    seeds = f"seeds {study.seeds[0]} to {study.seeds[-1]}"
    slots = f"{study.scale.horizon:,} slots"
    return f"{len(results.by_case)} cases, {len(study.runs)} runs of {slots}, {seeds}; {used}."
