"""What `flexpress control` may be started on, and what it refuses."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest
from command_line import Run

import flexpress
from flexpress import Scenario, make_plan, save_plan
from flexpress.control import messages
from flexpress.control.folder import Folder
from flexpress.control.plan_desk import PlanDesk
from flexpress.control.start import find_start
from flexpress.control.topics import Topics
from flexpress.errors import InputError
from flexpress.files.lock import sole_use
from flexpress.scenario import preset_text


def test_nothing_goes_on_in_this_folder() -> None:
    assert (find_start().root, find_start().text) == (Path(), None)


def test_a_preset_and_a_file(tmp_path: Path) -> None:
    assert "Twelve gauges" in str(find_start("valley").text)
    Scenario.preset("four").save(tmp_path / "mine.toml")
    start = find_start(str(tmp_path / "mine.toml"))
    assert (start.root, start.file) == (tmp_path, "mine.toml")


def test_the_folder_of_a_plan(tmp_path: Path) -> None:
    four = Scenario.preset("four")
    four.save(tmp_path / "scenario-used.toml")
    save_plan(make_plan(four, solver="exact"), tmp_path / "plan.json")
    for name in (tmp_path, tmp_path / "plan.json"):
        start = find_start(str(name))
        assert (start.root, start.text) == (tmp_path, four.to_toml())
    folder = Folder(tmp_path)
    assert folder.plans() == ["this folder"]
    assert folder.plan("this folder") == tmp_path.resolve()
    with pytest.raises(InputError, match="no such folder here"):
        folder.plan("..")


def test_the_kit_of_a_server_needs_the_operators(tmp_path: Path) -> None:
    (tmp_path / "server").mkdir()
    (tmp_path / "server" / "kit.json").write_text("{}")
    with pytest.raises(InputError, match="watching needs the operator's kit"):
        find_start(str(tmp_path / "server"))
    (tmp_path / "operator").mkdir()
    (tmp_path / "operator" / "kit.json").write_text("{}")
    assert find_start(str(tmp_path / "server")).kit == tmp_path / "operator"


def test_what_is_not_there(run: Run) -> None:
    outcome = run("control", "valey", "--no-browser")
    assert outcome.code == 2
    assert "no such file or folder, and no preset" in outcome.err
    assert '(did you mean "valley"?)' in outcome.err


def test_a_port_in_use(run: Run) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        outcome = run("control", "--no-browser", "--port", port)
    assert (outcome.code, outcome.out) == (2, "")
    assert f"port {port} is in use; choose another with --port" in outcome.err


def test_one_at_a_time(run: Run, tmp_path: Path) -> None:
    with sole_use(tmp_path / "flexpress-control"):
        outcome = run("control", "--no-browser")
    assert (outcome.code, outcome.out) == (2, "")
    assert "mission control runs there already; use its page" in outcome.err


def test_a_file_that_somebody_else_changed_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(preset_text("four"))
    desk = PlanDesk(Folder(tmp_path), Topics())
    desk.perform(messages.Open("mine.toml"))
    desk.perform(messages.Set({"": {"seed": 5}}))
    (tmp_path / "mine.toml").write_text("# edited elsewhere")
    with pytest.raises(InputError, match=r"mine.toml: was changed since it was opened"):
        desk.perform(messages.Save("mine.toml"))
    desk.perform(messages.Save("other"))
    assert "seed = 5" in (tmp_path / "other.toml").read_text()
    with pytest.raises(InputError, match="exists already"):
        desk.perform(messages.Save("mine.toml"))


def test_tiles_that_are_no_address(run: Run) -> None:
    outcome = run("control", "--no-browser", "--tiles", "file:///etc/{z}")
    assert outcome.code == 2
    assert "must be an address such as https://" in outcome.err


def test_without_its_packages(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.startswith("flexpress.control.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(vars(flexpress.control), "run_control", raising=False)
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    outcome = run("control", "--no-browser")
    assert outcome.code == 2
    assert (
        "mission control needs the package aiohttp: pip install 'flexpress[field]'" in outcome.err
    )
