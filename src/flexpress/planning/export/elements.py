"""XML elements with text in them, as KML and GPX need them."""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement


def add(parent: Element, tag: str, text: object = None, **attributes: str) -> Element:
    """A child, with its text if there is one; names are escaped when it is written."""
    child = SubElement(parent, tag, attributes)
    child.text = None if text is None else str(text)
    return child


def document(root: Element) -> str:
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text.decode() + "\n"
