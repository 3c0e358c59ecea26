"""The command line: argument parsing and calls, nothing else.

Only typer is loaded here: everything heavy is imported inside the commands that need it.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence

import click
import typer

from flexpress.cli import (  # noqa: F401  # they add their commands
    flight,
    learning,
    planning,
    report,
    reproduce,
    theory,
)
from flexpress.cli.app import app
from flexpress.cli.terminal import complain, complain_about, forget_output, notes, prepare_output
from flexpress.errors import FlexpressError

BUG, BAD_INPUT, INTERRUPTED = 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit code. Whatever goes wrong is one line on standard error."""
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
        complain(one_line(error))
        return BAD_INPUT
    except FlexpressError as error:
        complain_about(error)
        return error.exit_code
    except KeyboardInterrupt as interrupt:
        return report_interrupt(interrupt)
    except BrokenPipeError:
        forget_output()
    except OSError as error:
        if error.errno != errno.ENOSPC:
            return report_bug(error)
        forget_output()
        complain_about(error, "the output cannot be written: no space left on the device")
        return BAD_INPUT
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # in a class that was being made
            return report_interrupt(error)
        return report_bug(error)
    return 0


def report_interrupt(error: BaseException) -> int:
    result = "" if notes(error) else " before there was a result"
    complain("; ".join([*notes(error), f"interrupted{result}"]))
    return INTERRUPTED


def report_bug(error: Exception) -> int:
    text = f"{type(error).__name__}: {error}. This is a bug in flexpress; please report it, with"
    complain_about(error, f"{text} the traceback that FLEXPRESS_DEBUG=1 shows")
    return BUG


def one_line(error: click.ClickException) -> str:
    """Click's complaint about an option or argument, and where to read more."""
    text = " ".join(error.format_message().split())
    if isinstance(error, click.NoSuchOption):
        text = f'no option "{error.option_name}"{likely_option(error)}'
    context = getattr(error, "ctx", None)
    return f"{text.rstrip('.')}; see {context.command_path} --help" if context else text


def likely_option(error: click.NoSuchOption) -> str:
    """By the letters alone: to click, --foo is near to --out, since both begin with dashes."""
    from flexpress.scenario.validation_errors import nearest

    words = [name.lstrip("-") for name in error.possibilities or ()]
    return nearest(error.option_name.lstrip("-"), words).replace('"', '"--', 1)
