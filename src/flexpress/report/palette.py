"""Colours of pictures beside those of the transporters, which `planning.colours` has."""

from __future__ import annotations

from flexpress.planning.colours import OKABE_ITO
from flexpress.scenario import Algorithm

INK = "#222222"
ZONE, ZONE_FILL, HATCH = "#cf9d96", "#faf3f2", "///"  # a no-fly zone: tints of NO_FLY

ALGORITHMS: dict[Algorithm, str] = dict(zip(("sync", "async", "direct"), OKABE_ITO, strict=False))
