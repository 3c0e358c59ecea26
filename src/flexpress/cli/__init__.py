"""The command line: each command parses its options and calls flexpress.

Modules here import typer and `flexpress`, whose names load their room when they are first used. So
`--help` is quick.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import click
import typer
from typer.core import TyperGroup

from flexpress import __version__
from flexpress.arguments import nearest
from flexpress.cli.bound import bound
from flexpress.cli.control import control
from flexpress.cli.data import data
from flexpress.cli.export import export
from flexpress.cli.field import client, courier, server
from flexpress.cli.interrupt import INTERRUPTED
from flexpress.cli.map import map_plan
from flexpress.cli.operate import operate
from flexpress.cli.plan import plan
from flexpress.cli.provision import provision
from flexpress.cli.rehearse import rehearse
from flexpress.cli.report import report
from flexpress.cli.reproduce import reproduce
from flexpress.cli.scenario import scenario
from flexpress.cli.simulate import simulate
from flexpress.cli.terminal import (
    complain,
    complain_about,
    forget_output,
    notes,
    prepare_output,
    say,
)
from flexpress.errors import FlexpressError

_BUG, _BAD_INPUT = 1, 2


class _Commands(TyperGroup):
    """Suggests the command that was perhaps meant."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        names = sorted(self.list_commands(ctx))
        if args[0] not in names and not args[0].startswith("-"):
            hint = nearest(args[0], names)
            raise click.UsageError(f'no command "{args[0]}"{hint}; there are: {", ".join(names)}')
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_Commands,
    add_completion=False,
    rich_markup_mode=None,  # plain text: drawing boxes around the help would triple its time
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (scenario, plan, data, simulate, report, bound, reproduce, export):
    app.command()(command)
app.command(name="map")(map_plan)
for program in (control, rehearse, provision, server, courier, client, operate):
    app.command()(program)


@app.callback(invoke_without_command=True)
def _flexpress(
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. Every error is one line on standard error."""
    try:
        command = typer.main.get_command(app)
        arguments = list(sys.argv[1:] if arguments is None else arguments)
        prepare_output()
        with command.make_context("flexpress", arguments) as context:
            command.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        complain(_one_line(error))
        return _BAD_INPUT
    except FlexpressError as error:
        if _aborted(error):
            return _report_interrupt(error)
        complain_about(error)
        return error.exit_code
    except KeyboardInterrupt as interrupt:
        return _report_interrupt(interrupt)
    except BrokenPipeError:
        forget_output()
    except OSError as error:
        if error.errno != errno.ENOSPC:
            return _report_bug(error)
        forget_output()
        complain_about(error, "the output cannot be written: no space left on the device")
        return _BAD_INPUT
    except Exception as error:
        if _aborted(error):
            return _report_interrupt(error)
        return _report_bug(error)
    return 0


def _aborted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind it: libraries raise their own errors while they end."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _report_interrupt(error: BaseException) -> int:
    result = "" if notes(error) else " before there was a result"
    complain("; ".join([*notes(error), f"interrupted{result}"]))
    return INTERRUPTED


def _report_bug(error: Exception) -> int:
    text = f"{type(error).__name__}: {error}. This is a bug in flexpress; please report it, with"
    complain_about(error, f"{text} the traceback that FLEXPRESS_DEBUG=1 shows")
    return _BUG


def _one_line(error: click.ClickException) -> str:
    """Click's message about an option or argument, and where to read more."""
    text = " ".join(error.format_message().split())
    if isinstance(error, click.NoSuchOption):
        text = f'no option "{error.option_name}"{_likely_option(error)}'
    context = getattr(error, "ctx", None)
    return f"{text.rstrip('.')}; see {context.command_path} --help" if context else text


def _likely_option(error: click.NoSuchOption) -> str:
    """Compared without dashes: with them, click takes --foo for --out."""
    words = [name.lstrip("-") for name in error.possibilities or ()]
    return nearest(error.option_name.lstrip("-"), words).replace('"', '"--', 1)
