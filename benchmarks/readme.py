"""The results in the README: each section between two marks of its own."""

from __future__ import annotations

from collections.abc import Sequence


def with_section(text: str, name: str, lines: Sequence[str]) -> str:
    """The text with these lines between the marks of this name."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    before, found, rest = text.partition(begin)
    _, also_found, after = rest.partition(end)
    if not found or not also_found:
        raise ValueError(f"no marks {begin.strip()} and {end} in the README; put them there")
    body = "\n".join(lines).strip()
    return f"{before}{begin}\n{body}\n\n{end}{after}"
