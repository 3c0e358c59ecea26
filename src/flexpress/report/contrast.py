"""How far two colours stand apart for the eye, and colours moved until they do (WCAG 2)."""

from __future__ import annotations

Rgb = tuple[float, float, float]

STEPS = 64


def contrast(one: str, other: str) -> float:
    """From 1, the same brightness, to 21, black on white. Texts need 4.5, thick lines 3."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    red, green, blue = (linear(part) for part in parts(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def linear(part: float) -> float:
    """Light out of the number that stands for it in sRGB."""
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def legible(colour: str, paper: str, ink: str, least: float) -> str:
    """The colour, with as little ink in it as gives it this contrast to the paper."""
    if contrast(colour, paper) >= least:
        return colour
    mixed = (mix(colour, ink, step / STEPS) for step in range(1, STEPS))
    return next((found for found in mixed if contrast(found, paper) >= least), ink)


def mix(colour: str, other: str, share: float) -> str:
    """So much of the other in the colour."""
    both = zip(parts(colour), parts(other), strict=True)
    mixed = (round(255 * (a + share * (b - a))) for a, b in both)
    return "#" + "".join(f"{part:02x}" for part in mixed)


def parts(colour: str) -> Rgb:
    """Red, green and blue of "#rrggbb", between 0 and 1."""
    red, green, blue = (int(colour[j : j + 2], 16) / 255 for j in (1, 3, 5))
    return red, green, blue
