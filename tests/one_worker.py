"""Which tests one worker runs, so that what they share is made once: a cluster, a browser, a page.

All other tests of a file stay together too, as they share its fixtures. The longest groups come
first, so that all workers are done at about the same time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from xdist.scheduler import LoadScopeScheduling

SHARED = {
    "page": re.compile(r"_quick|_browser"),
    "cluster": re.compile(r"_ray|test_cluster|test_processes|test_scaling_docs"),
}
"""Files, by their names, that share something with other files; the longest group first."""

GROUPS = {"ray": "cluster", "quick": "page", "browser": "page"}
"""Of the fixtures that are shared."""


def group_of(nodeid: str) -> str:
    file = nodeid.partition("::")[0]
    return next((name for name, files in SHARED.items() if files.search(file)), file)


def rank(nodeid: str) -> int:
    groups = list(SHARED)
    return groups.index(group_of(nodeid)) if group_of(nodeid) in groups else len(groups)


def check(items: Sequence[pytest.Item]) -> None:
    """Else a second worker would start a cluster or a browser of its own, unnoticed."""
    for item in items:
        for name in GROUPS.keys() & set(getattr(item, "fixturenames", ())):
            if group_of(item.nodeid) != GROUPS[name]:
                raise pytest.UsageError(
                    f"{item.nodeid} uses the fixture {name}: name its file in SHARED, "
                    "in tests/one_worker.py"
                )


class OneWorker(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """A group goes to one worker, as a whole."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)
