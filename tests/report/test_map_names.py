"""Names on the map: whatever they are, they can be read, do not collide, and fit the picture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from drawn import overlapping, png_size, texts, unwritable
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager

from flexpress import Plan, Scenario
from flexpress.report.figures import fonts
from flexpress.report.figures.map import _draw_map, map_figure, map_png
from flexpress.report.figures.picture import png_bytes

LARGEST = 3000  # pixels
ODD = ["$x_1$", "a_b", "100 %", "<b>bold</b>", "水文站", "🚁 base", "مرحبا", "नमस्ते", "\u0301", "é̂"]


def ring(
    names: list[str], *, transporters: int = 2, key: str = "names", name: str = "ring"
) -> tuple[Scenario, Plan]:
    """Clients on a circle around the server."""
    angles = np.linspace(0.1, 6.0, len(names))
    clients = [[1000 * float(np.cos(a)), 700 * float(np.sin(a))] for a in angles]
    return planned(clients, transporters, name=name, network={key: names})


def planned(
    clients: list[list[float]],
    transporters: int = 1,
    *,
    name: str = "odd",
    network: dict[str, object] | None = None,
) -> tuple[Scenario, Plan]:
    scenario = Scenario.from_dict(
        {
            "name": name,
            "network": {"server": [0, 0], "clients": clients, **(network or {})},
            "fleet": {"speeds": [10.0] * transporters},
            "link": {"transfer_time": 1.0},
        }
    )
    nodes = range(1, len(clients) + 1)
    tours = [list(part) for part in np.array_split(nodes, transporters)]
    tours = [[int(node) for node in tour] for tour in tours]
    return scenario, Plan.of(scenario, "sws", tours, solver="search", seed=0, seconds=1.0)


def labels(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_text()]


def figure_of(ax: Axes) -> Figure:
    assert isinstance(ax.figure, Figure)
    return ax.figure


@pytest.mark.parametrize("key", ["ids", "names"])
def test_a_name_of_any_length_leaves_the_picture_its_size(key: str) -> None:
    long = [3000 * "W", 700 * "word ", "ok"]
    scenario, plan = ring([text.strip() for text in long], key=key, name=2000 * "n")
    assert max(png_size(map_png(scenario, plan))) < LARGEST
    shown = labels(_draw_map(scenario, plan))
    assert "ok" in shown
    assert all(len(text) <= fonts._LONGEST for text in shown)
    assert sum(text.endswith("…") for text in shown) == 2


@pytest.mark.parametrize(("clients", "transporters"), [(130, 65), (60, 60), (1, 1)])
def test_many_transporters_leave_the_picture_its_size(clients: int, transporters: int) -> None:
    scenario, plan = ring([f"station {j}" for j in range(clients)], transporters=transporters)
    assert max(png_size(map_png(scenario, plan))) < LARGEST


def test_huge_numbers_leave_the_picture_its_size() -> None:
    scenario, plan = ring(["a", "b"], transporters=1)
    scenario = scenario.replace(fleet={"budgets": [1e15]})
    plan = Plan.of(scenario, "sws", [[1, 2]], solver="search", seed=0, seconds=1.0)
    assert max(png_size(map_png(scenario, plan))) < LARGEST


def test_every_sign_can_be_drawn_and_no_name_is_lost() -> None:
    scenario, plan = ring(ODD, name="測站 $x$ <b>")
    figure = map_figure(scenario, plan)
    assert unwritable(figure) == set()
    png_bytes(figure, 50)  # warnings are errors: no glyph is missing
    shown = labels(figure.axes[0])
    assert {"$x_1$", "a_b", "100 %", "<b>bold</b>", "base", "مرحبا"} <= set(shown)
    assert len(shown) == len(ODD)


@pytest.fixture
def own_fonts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine that has the fonts of matplotlib and no others, until some are added."""
    brought = [font for font in fontManager.ttflist if "mpl-data" in font.fname]
    monkeypatch.setattr(fontManager, "ttflist", brought)
    fonts._family_of.cache_clear()
    yield
    fonts._family_of.cache_clear()


@pytest.mark.usefixtures("own_fonts")
def test_a_name_that_no_font_has_gives_way_to_the_id() -> None:
    network = {"names": ["水 3", "水文站"], "ids": [7, "水"]}
    scenario, plan = planned([[500.0, 0.0], [0.0, 500.0]], network=network)
    assert sorted(labels(_draw_map(scenario, plan))) == ["#2", "7"]


@pytest.mark.usefixtures("own_fonts")
def test_a_font_of_the_machine_is_used_for_what_dejavu_lacks(tmp_path: Path) -> None:
    fontManager.addfont(small_font(tmp_path / "small.ttf", "Small Sans", "水"))
    scenario, plan = planned([[500.0, 0.0]], network={"names": ["水 3"]}, name="水文")
    figure = map_figure(scenario, plan)
    assert labels(figure.axes[0]) == ["水 3"]
    assert figure.axes[0].get_title(loc="left").startswith("scenario: ")
    assert unwritable(figure) == set()
    png_bytes(figure, 50)


def small_font(path: Path, family: str, sign: str) -> str:
    """A font with a single sign, a square."""
    from fontTools.fontBuilder import FontBuilder  # type: ignore[import-untyped]  # has no types
    from fontTools.pens.ttGlyphPen import TTGlyphPen  # type: ignore[import-untyped]  # has no types

    pen = TTGlyphPen(None)
    for move, point in ((pen.moveTo, (0, 0)), (pen.lineTo, (0, 500)), (pen.lineTo, (500, 500))):
        move(point)
    pen.closePath()
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", "square"])
    builder.setupCharacterMap({ord(sign): "square"})
    builder.setupGlyf({".notdef": TTGlyphPen(None).glyph(), "square": pen.glyph()})
    builder.setupHorizontalMetrics({".notdef": (600, 0), "square": (600, 0)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": family, "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(path)
    return str(path)


CLOSE = [[300.0, 200.0], [301.0, 201.0], [302.0, 199.0], [-400.0, 50.0], [-380.0, 60.0]]
STREET = [[100.0 * j, 0.0] for j in range(1, 13)]
CROWD = (1000 * np.random.default_rng(3).random((40, 2))).tolist()


@pytest.mark.parametrize("clients", [CLOSE, STREET, CROWD], ids=["close", "street", "crowd"])
def test_names_do_not_collide(clients: list[list[float]]) -> None:
    names = [f"station {j}" for j in range(len(clients))]
    scenario, plan = planned(clients, 12 if len(clients) == 40 else 2, network={"ids": names})
    ax = _draw_map(scenario, plan)
    drawn = texts(figure_of(ax))
    assert overlapping(figure_of(ax), drawn) == []
    written = "\n".join(text.get_text() for text in drawn).splitlines()
    assert len(set(written) & set(names)) >= 0.9 * len(names)


def test_clients_at_one_place_share_a_label() -> None:
    spots = [[300.0, 0.0]] * 2 + [[-300.0, 0.0]] * 6
    scenario, plan = planned(spots, network={"names": list("abcdefgh")})
    assert sorted(labels(_draw_map(scenario, plan))) == ["a\nb", "c\nd\ne\nand 3 more"]


def test_names_stand_where_they_are_given_and_tell_equal_ones_apart() -> None:
    network = {"ids": [1, 2, 3], "names": ["pump", "pump", ""]}
    scenario, plan = planned([[300.0, 0.0], [0.0, 300.0], [-300.0, 0.0]], network=network)
    assert sorted(labels(_draw_map(scenario, plan))) == ["3", "pump (1)", "pump (2)"]


def test_zones_show_their_names() -> None:
    square = [[100, 100], [400, 100], [400, 400], [100, 400]]
    other = [[-x, -y] for x, y in square]
    network = {"no_fly": [square, other], "no_fly_names": ["Airport", ""]}
    scenario, plan = planned([[600.0, 0.0]], network=network)
    ax = _draw_map(scenario, plan)
    assert sorted(labels(ax)) == ["1", "Airport"]
    (name,) = (text for text in texts(figure_of(ax)) if text.get_text() == "Airport")
    box = ax.transData.inverted().transform(name.get_window_extent().corners())
    assert np.all((box > 100) & (box < 400))


def test_a_map_in_degrees_says_from_where_it_counts() -> None:
    clients = [{"lat": 46.1, "lon": 8.0}, {"lat": 46.0, "lon": 8.2}]
    scenario = Scenario.from_dict(
        {
            "network": {"server": {"lat": 46.0, "lon": 8.0}, "clients": clients},
            "fleet": {"speeds": [10.0]},
            "link": {"transfer_time": 1.0},
        }
    )
    plan = Plan.of(scenario, "sws", [[1, 2]], solver="search", seed=0, seconds=1.0)
    ax = _draw_map(scenario, plan)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("km east of the server", "km north of the server")


def test_numbers_at_the_axes_are_whole_and_apart_wherever_the_place_is() -> None:
    far = [[2_600_000.0, 1_200_000.0], [2_600_900.0, 1_200_700.0]]
    scenario = planned(far)[0].replace(network={"server": [2_600_100, 1_200_500]})
    plan = Plan.of(scenario, "sws", [[1, 2]], solver="search", seed=0, seconds=1.0)
    ticks = [text for text in texts(map_figure(scenario, plan)) if "2,60" in text.get_text()]
    assert "2,600,200" in {text.get_text() for text in ticks}
    for clients in ([[0.0, 100.0 * j] for j in range(1, 9)], STREET):
        figure = map_figure(*planned(clients))
        assert overlapping(figure) == []


def test_tours_on_top_of_each_other_are_all_seen() -> None:
    scenario, plan = planned([[200.0, 0.0], [400.0, 0.0], [600.0, 0.0]], 3)
    ax = _draw_map(scenario, plan)
    widths = [line.get_linewidth() for line in ax.lines]
    assert sorted(widths, reverse=True) == widths
    assert len(set(widths)) == 3
    assert len({to_rgb(line.get_color()) for line in ax.lines}) == 3
