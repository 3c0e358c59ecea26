"""Sensors and zones from KML and KMZ, and files that are not what they seem."""

from __future__ import annotations

import io
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest

from flexpress import InputError, Scenario
from flexpress.scenario.kml import parse_placemarks, parse_zones

KML = """<?xml version="1.0" encoding="UTF-8"?>
<kml xmlns="http://www.opengis.net/kml/2.2"><Document>
<Placemark><name>weir</name><Point><coordinates>8.01,46.55,0</coordinates></Point></Placemark>
<Placemark><Point><altitudeMode>absolute</altitudeMode>
  <coordinates> 8.02,46.56,1034 </coordinates></Point></Placemark>
<Placemark><name>reserve</name><Polygon><outerBoundaryIs><LinearRing>
  <coordinates>8.1,46.5 8.2,46.5 8.2,46.6 8.1,46.5</coordinates>
</LinearRing></outerBoundaryIs></Polygon></Placemark>
</Document></kml>"""


def packed(content: bytes, name: str = "doc.kml") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize("suffix", [".kml", ".kmz"])
def test_a_scenario_may_name_it(suffix: str, tmp_path: Path) -> None:
    content = KML.encode() if suffix == ".kml" else packed(KML.encode())
    (tmp_path / f"places{suffix}").write_bytes(content)
    data = {
        "network": {
            "server": {"lat": 46.5, "lon": 8.0},
            "clients": f"places{suffix}",
            "no_fly": f"places{suffix}",
        },
        "fleet": {"speeds": [10.0]},
        "link": {"transfer_time": 1.0},
    }
    scenario = Scenario.from_dict(data, base_dir=tmp_path)
    assert scenario.client_names == ("weir", "2")
    assert scenario.client_altitudes == (None, 1034.0)
    assert scenario.zone_names == ("reserve",)
    with pytest.raises(InputError, match="is in degrees, but"):
        Scenario.from_dict({**data, "network": {**data["network"], "server": [0, 0]}}, tmp_path)  # type: ignore[dict-item]


BOMB = '<!DOCTYPE k [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in pairwise("abcdefgh")
) + "]><kml>&h;</kml>"  # fmt: skip

REFUSED = {
    "document type": BOMB.encode(),
    "not KML": b"<kml>",
    "not KML in UTF-8": BOMB.encode("utf-16"),
    "not a readable KMZ": b"PK\x03\x04 and then nothing",
    "no .kml in this archive": packed(b"", "readme.txt"),
    "larger than": packed(b" " * 50_000_001),
    "no clients": b"<kml></kml>",
    "must be lon,lat in degrees": KML.replace("8.01,46.55,0", "8;46").encode(),
    "has no coordinates": b"<kml><Placemark><Point/></Placemark></kml>",
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_is_refused(reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        parse_placemarks(REFUSED[reason], "places.kml")


def test_zones_without_holes() -> None:
    holed = KML.replace("</outerBoundaryIs>", "</outerBoundaryIs><innerBoundaryIs/>")
    with pytest.raises(InputError, match="placemark 3: a polygon with holes"):
        parse_zones(holed.encode(), "places.kml")
    with pytest.raises(InputError, match="no zones"):
        parse_zones(b"<kml/>", "places.kml")
