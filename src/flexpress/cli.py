"""The command line: argument parsing and calls, nothing else.

Only typer is loaded here: everything heavy is imported inside the commands that need it.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import click
import typer
from typer.core import TyperGroup

from flexpress import __version__
from flexpress.errors import FlexpressError, InfeasibleError, InputError
from flexpress.found import find_plan, find_scenario
from flexpress.terminal import complain, console, forget_output, prepare_output, say
from flexpress.watched import watched_certificate, watched_diagnosis, watched_plan

if TYPE_CHECKING:
    from flexpress.scenario import Objective, Scenario, SolverName

# The values of flexpress.scenario.Objective and SolverName, whose module is too slow for --help.
OBJECTIVES = ("minmax", "sws", "total")
SOLVERS = ("search", "carp", "exact")
# And those of flexpress.planning.export.EXPORT_FORMATS.
FORMATS = ("qgc", "wpl", "geojson", "kml", "gpx", "csv")

BUG, BAD_INPUT, INTERRUPTED = 1, 2, 130


class Commands(TyperGroup):
    """Knows which command was perhaps meant."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        names = sorted(self.list_commands(ctx))
        if args[0] not in names and not args[0].startswith("-"):
            from flexpress.scenario.complaints import nearest

            hint = nearest(args[0], names)
            raise click.UsageError(f'no command "{args[0]}"{hint}; there are: {", ".join(names)}')
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    rich_markup_mode=None,  # plain text: drawing boxes around the help would triple its time
    context_settings={"help_option_names": ["-h", "--help"]},
)
# Arguments are explained in the text above the options: some versions of click lose their help.


@app.callback(invoke_without_command=True)
def flexpress(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and end.")] = False,
) -> None:
    """Federated learning by model express delivery: plan the drones that carry the model."""
    if version:
        say(f"flexpress {__version__}")
    elif context.invoked_subcommand is None:
        say(context.get_help())
    else:
        return
    raise typer.Exit


@app.command()
def scenario(
    preset: Annotated[str | None, typer.Argument(metavar="[PRESET]", hidden=True)] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Draw other positions, if they are generated.")
    ] = None,
    names: Annotated[bool, typer.Option("--list", help="List the presets.")] = False,
) -> None:
    """List the presets, or print one as TOML.

    The text is ready to be edited: flexpress scenario valley > mine.toml
    """
    from flexpress.report.presets import show_presets
    from flexpress.scenario import Scenario, preset_text

    if preset is None or names:
        show_presets(console(sys.stdout))
        return
    Scenario.preset(preset, seed)  # a text that does not load is not printed
    say(preset_text(preset, seed).rstrip("\n"))


@app.command()
def plan(
    name: Annotated[str, typer.Argument(metavar="SCENARIO", hidden=True)],
    objective: Annotated[
        str | None,
        typer.Option(click_type=click.Choice(OBJECTIVES), help="What to make small."),
    ] = None,
    solver: Annotated[
        str | None, typer.Option(click_type=click.Choice(SOLVERS), help="How to plan.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(metavar="S", help="Limit of time for the solver.")
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(metavar="I", help="Limit of work: the same plan every time.")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Seed of the solver.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for plan.json, map.png and scenario.toml; "
            "by default one in flexpress-out, and none with --json.",
        ),
    ] = None,
    certify: Annotated[
        bool, typer.Option("--certify", help="Prove how much better a plan could be at most.")
    ] = False,
    certify_seconds: Annotated[
        float | None,
        typer.Option(metavar="S", help="Limit of time for the proof; implies --certify."),
    ] = None,
    diagnose: Annotated[
        bool,
        typer.Option("--diagnose", help="If no plan fits the budgets, tell what would help most."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the plan as one JSON object, nothing else.")
    ] = False,
) -> None:
    """Plan who flies where: a table, a map and files.

    SCENARIO is a TOML file, or the name of a preset if there is no such file. Options that are
    not given are taken from it. Ctrl-C ends the search with the best plan so far.
    """
    from flexpress.planning import plan_to_json
    from flexpress.planning.solve import check_effort
    from flexpress.report.folder import MAP, PLAN_FILES, default_folder, write_folder
    from flexpress.scenario.folder import check_folder

    check_effort(seconds, iterations, seed)
    certify = certify or certify_seconds is not None
    if certify:
        from flexpress.planning.bounds import check_certify

        check_certify(certify_seconds)
    given = find_scenario(name)
    chosen = cast("Objective | None", objective) or given.plan.objective
    folder = out if out or as_json else default_folder(given, chosen)
    if folder:
        check_folder(folder, PLAN_FILES)
    solver_name = cast("SolverName | None", solver)
    try:
        made = watched_plan(given, chosen, solver_name, seconds, iterations, seed)
    except InfeasibleError as error:
        if not diagnose:
            raise InfeasibleError(f"{error}; --diagnose tells what would help most") from None
        complain(str(error))
        show_diagnosis(given, seed, as_json)
        raise typer.Exit(error.exit_code) from None
    if certify:
        made = watched_certificate(given, made, certify_seconds)
    if folder:
        write_folder(given, made, folder)
    if as_json:
        say(plan_to_json(made))
        return
    from flexpress.report.table import show_plan

    show_plan(console(sys.stdout), given, made)
    say(f" map: {folder / MAP if folder else ''}")


def show_diagnosis(given: Scenario, seed: int | None, as_json: bool) -> None:
    """What would help most, as a table or as JSON."""
    from flexpress.report.remedies import remedies_to_json, show_remedies

    remedies = watched_diagnosis(given, seed)
    if as_json:
        say(remedies_to_json(remedies))
    else:
        show_remedies(console(sys.stdout), remedies)


PLAN_HELP = "The plan's scenario, if it is not scenario.toml beside the plan."


@app.command()
def export(
    name: Annotated[str, typer.Argument(metavar="PLAN", hidden=True)],
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format", click_type=click.Choice(FORMATS), help="What to write; may be repeated."
        ),
    ] = None,
    origin: Annotated[
        str | None,
        typer.Option(metavar="LAT,LON", help="Where x = 0, y = 0 of a scenario in metres lies."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder; by default the plan's.")
    ] = None,
    scenario: Annotated[str | None, typer.Option(metavar="FILE", help=PLAN_HELP)] = None,
) -> None:
    """Write a plan as missions for ground stations, or as tracks for maps.

    PLAN is a plan.json or the folder it is in. Formats: qgc (QGroundControl .plan) and wpl
    (ArduPilot waypoints), a file for each transporter; geojson, kml, gpx and csv.
    """
    from flexpress.planning.export import export_notes, export_plan, parse_origin
    from flexpress.scenario.folder import check_folder, write_files

    if not formats:
        raise InputError(f"--format is missing: give one or more of {', '.join(FORMATS)}")
    place = None if origin is None else parse_origin(origin)
    given, plan, beside = find_plan(name, scenario)
    folder = out or beside
    files: dict[str, str] = {}
    for format in formats:
        files |= export_plan(given, plan, format, origin=place)
    check_folder(folder, files)
    for format in formats:
        for note in export_notes(given, plan, format):
            complain(note)
    write_files(folder, files)
    say("\n".join(str(folder / file) for file in files))


@app.command(name="map")
def html_map(
    name: Annotated[str, typer.Argument(metavar="PLAN", hidden=True)],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="By default map.html beside the plan.")
    ] = None,
    scenario: Annotated[str | None, typer.Option(metavar="FILE", help=PLAN_HELP)] = None,
) -> None:
    """Write a map of a plan as one HTML file that works offline.

    PLAN is a plan.json or the folder it is in. Pan, zoom, hover; a slider moves the drones.
    """
    from flexpress.report.html_map import save_html_map

    given, plan, beside = find_plan(name, scenario)
    path = out or beside / "map.html"
    save_html_map(given, plan, path)
    say(str(path))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit code. Whatever goes wrong is one line on standard error."""
    command = typer.main.get_command(app)
    try:
        arguments = list(sys.argv[1:] if arguments is None else arguments)
        prepare_output()
        with command.make_context("flexpress", arguments) as context:
            command.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        complain(one_line(error))
        return BAD_INPUT
    except FlexpressError as error:
        complain(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        complain("interrupted before there was a plan")
        return INTERRUPTED
    except BrokenPipeError:
        forget_output()
    except OSError as error:
        if error.errno != errno.ENOSPC:
            return report_bug(error)
        forget_output()
        complain("the output cannot be written: no space left on the device")
        return BAD_INPUT
    except Exception as error:
        return report_bug(error)
    return 0


def report_bug(error: Exception) -> int:
    if os.environ.get("FLEXPRESS_DEBUG"):
        raise error
    complain(
        f"{type(error).__name__}: {error}. This is our mistake: please report it, "
        "with the traceback that FLEXPRESS_DEBUG=1 shows"
    )
    return BUG


def one_line(error: click.ClickException) -> str:
    """Click's complaint about an option or argument, and where to read more."""
    text = " ".join(error.format_message().split()).rstrip(".")
    context = getattr(error, "ctx", None)
    return f"{text}; see {context.command_path} --help" if context else text
