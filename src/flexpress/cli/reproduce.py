"""The command `reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flexpress.cli.app import app
from flexpress.cli.found import out_path
from flexpress.cli.terminal import say
from flexpress.errors import InputError

if TYPE_CHECKING:
    from flexpress.experiments.figures import Figure

INTERRUPTED = 130
OUT = Path("flexpress-out")
# Of flexpress.experiments.setting.FULL and QUICK, whose module is too slow for --help.
SEEDS = {"FULL": 4, "QUICK": 2}
SEEDS_HELP = f"Experiments per setting; by default {SEEDS['FULL']}, with --quick {SEEDS['QUICK']}."


@app.command()
def reproduce(
    figure: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this figure; may be repeated."),
    ] = None,
    seeds: Annotated[int | None, typer.Option(metavar="S", help=SEEDS_HELP)] = None,
    networks: Annotated[
        int,
        typer.Option(
            metavar="M",
            help="Networks on which the claims are checked; by default 1.",
            show_default=False,  # which would come out with a backslash
        ),
    ] = 1,
    quick: Annotated[
        bool, typer.Option("--quick", help="On a small scale, with the data in the package.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="J", help="Runs at a time; by default 2, with --ray one per core."),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option("--ray", metavar="ADDRESS", help="Spread runs over the Ray cluster there."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=out_path, metavar="DIR", help="Folder; by default one in flexpress-out."
        ),
    ] = None,
) -> None:
    """Run the paper's experiments, draw its figures and check its claims: one page.

    Finished runs are kept in the folder. You can interrupt it; starting again resumes it.
    """
    from flexpress.cli.reproducing import carry_out
    from flexpress.experiments.setting import FULL, QUICK

    scale = QUICK if quick else FULL
    for name, number in {"seeds": seeds, "networks": networks, "jobs": jobs}.items():
        if number is not None and number < 1:
            raise InputError(f"--{name} {number}: must be at least 1")
    folder = out or OUT / ("reproduction-quick" if quick else "reproduction")
    page = carry_out(
        chosen(figure or []),
        scale,
        folder,
        networks=networks,
        seeds=seeds,
        jobs=jobs,
        ray=ray,
        command=typed(quick, seeds, networks),
    )
    if page is None:
        raise typer.Exit(INTERRUPTED)
    say(f" page: {page}")


def typed(quick: bool, seeds: int | None, networks: int) -> str:
    """What gives the same numbers again, wherever they are written."""
    words = ["flexpress reproduce"]
    if quick:
        words.append("--quick")
    if seeds is not None:
        words.append(f"--seeds {seeds}")
    if networks > 1:
        words.append(f"--networks {networks}")
    return " ".join(words)


def chosen(names: list[str]) -> tuple[Figure, ...]:
    """All, or those that are named, in the order of the paper."""
    from flexpress.experiments.figures import FIGURES
    from flexpress.scenario.validation_errors import nearest

    known = [figure.name for figure in FIGURES]
    for name in names:
        if name not in known:
            hint = nearest(name, known)
            raise InputError(f'no figure "{name}"{hint}; there are: {", ".join(known)}')
    return tuple(figure for figure in FIGURES if not names or figure.name in names)
