"""The program that commands are added to."""

from __future__ import annotations

from typing import Annotated, Any

import click
import typer
from typer.core import TyperGroup

from flexpress import __version__
from flexpress.cli.terminal import say


class Commands(TyperGroup):
    """Knows which command was perhaps meant."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        names = sorted(self.list_commands(ctx))
        if args[0] not in names and not args[0].startswith("-"):
            from flexpress.scenario.validation_errors import nearest

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
