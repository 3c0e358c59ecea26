"""An HTML page taken apart: what there is on it, told by the standard parser."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "img", "source", "br", "wbr"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    text: str = ""


@dataclass
class WrittenPage(HTMLParser):
    """Complains of tags that are not closed, or closed in another order."""

    html: str
    elements: list[Element] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[Element] = []
        self.feed(self.html)
        self.close()
        self.mistakes += [f"<{element.tag}> is not closed" for element in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        twice = [name for name, number in Counter(name for name, _ in attrs).items() if number > 1]
        self.mistakes += [f"<{tag}> has {name} twice" for name in twice]
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1].tag == tag:
            self._open.pop()
        else:
            self.mistakes.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def all(self, tag: str, **attributes: str) -> list[Element]:
        """Of this tag, with these attributes; `class_` is `class`."""
        wanted = {name.rstrip("_"): value for name, value in attributes.items()}
        return [
            element
            for element in self.elements
            if element.tag == tag and wanted.items() <= element.attributes.items()
        ]
