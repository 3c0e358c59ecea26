"""Plans as files that ground stations, maps and spreadsheets open: one format a module."""

from flexpress.planning.export.clearance import check_clearance
from flexpress.planning.export.formats import EXPORT_FORMATS, export_plan
from flexpress.planning.export.notes import export_notes
from flexpress.planning.export.origin import parse_origin

__all__ = ["EXPORT_FORMATS", "check_clearance", "export_notes", "export_plan", "parse_origin"]
