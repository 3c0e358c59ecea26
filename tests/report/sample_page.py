"""A page with one of everything on it, and names that no HTML may be made of."""

from __future__ import annotations

from matplotlib.figure import Figure

from flexpress.report.figures.energy import EnergyGroup, energy_figure
from flexpress.report.figures.picture import Picture, draw_picture
from flexpress.report.figures.style import Theme
from flexpress.report.page.page import Cell, Download, Grid, Page, PageSection

ODD = '<script>alert(1)</script> & "quotes" {{style}}'


def picture(name: str) -> Picture:
    def draw(theme: Theme) -> Figure:
        return energy_figure([EnergyGroup("15 kJ", (10e3, 12e3), (15e3, 15e3))], theme=theme)

    return draw_picture(name, f"{name}: {ODD}", draw, caption=f"Caption: {ODD}")


CLAIMS = Grid(
    ("claim", "verdict", "difference", "interval"),
    (
        (Cell("first", link="one"), Cell("reproduced", "good"), "+1.5 points", "+0.5 to +2.5"),
        (Cell("second", link="two"), Cell("not reproduced", "bad"), "\N{MINUS SIGN}2 points", "-"),
        ("third", Cell("undecided", "open"), "+0.1 points", "-0.4 to +0.6"),
        (ODD, Cell("not applicable", "none"), "-", "-"),
    ),
    "Claims",
)
WIDE = Grid(tuple(f"column {j}" for j in range(30)), (tuple(f"{j}" for j in range(30)),))
FOLDED = Grid(("seed", "accuracy"), (("1", "80.1 %"), ("2", "79.9 %")), "Per seed", folded=True)
PAGE = Page(
    title=f"Sample {ODD}",
    lead=("What it says.", ODD),
    summary=(CLAIMS,),
    sections=(
        PageSection(
            "one",
            f"First {ODD}",
            ("A paragraph.", ODD),
            (picture("first"), picture("second")),
            (WIDE, FOLDED),
            f"flexpress reproduce --figure one '{ODD}' " + 20 * "--and-so-on ",
            (Download("one.csv", "a,b\n"),),
        ),
        PageSection("two", "Second", pictures=(picture("third"),), quote=f"a = 1  # {ODD}\nb = 2"),
    ),
    footer=("Made by hand.",),
)
