"""Files and folders: written whole, locked while in use, with a record of who wrote what."""

from typing import TYPE_CHECKING

from flexpress.lazy import lazy_names

if TYPE_CHECKING:
    from flexpress.files.disk import PLAN, SCENARIO
    from flexpress.files.provenance import Outputs
else:
    __getattr__, __dir__ = lazy_names(__name__, {"disk": "PLAN SCENARIO", "provenance": "Outputs"})

__all__ = ["PLAN", "SCENARIO", "Outputs"]
