"""Plans as files that ground stations, maps and spreadsheets open: one module per format."""

from flexpress.planning.export.flight_plan import check_clearance, parse_origin
from flexpress.planning.export.formats import EXPORT_FORMATS, export_notes, export_plan

__all__ = ["EXPORT_FORMATS", "check_clearance", "export_notes", "export_plan", "parse_origin"]
