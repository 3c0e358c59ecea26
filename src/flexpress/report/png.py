"""Figures as PNG: sharp, cut to what is drawn, the same bytes for the same figure."""

from __future__ import annotations

import io

from matplotlib.figure import Figure


def png_bytes(figure: Figure, dots_per_inch: int) -> bytes:
    image = io.BytesIO()
    figure.savefig(image, dpi=dots_per_inch, bbox_inches="tight", metadata={"Software": None})
    return image.getvalue()
