"""The presets as a list for the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from flexpress.scenario import preset_names, preset_text


def show_presets(console: Console) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for name in preset_names():
        table.add_row(name, Text(description(preset_text(name))))
    console.print(table)


def description(preset: str) -> str:
    """The first sentence of the comment at the top of a preset."""
    comment, _, _ = preset.partition("\n\n")
    text = " ".join(line.removeprefix("#").strip() for line in comment.splitlines())
    sentence, _, _ = text.partition(". ")
    return sentence.rstrip(".") + "."
