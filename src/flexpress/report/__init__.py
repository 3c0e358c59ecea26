"""Figures, tables, pages and maps of plans and runs.

The names load their module when they are first used: tables need no pictures.
"""

from typing import TYPE_CHECKING

from flexpress.lazy import lazy_names

if TYPE_CHECKING:
    from flexpress.report.figures.costs import save_costs
    from flexpress.report.figures.curves import curves_png, save_curves
    from flexpress.report.figures.label_mix import label_mix_png, save_label_mix
    from flexpress.report.figures.theory import save_theory_picture
    from flexpress.report.folder import MAP, PLAN_FILES, default_folder, write_folder
    from flexpress.report.page.html import REPORT
    from flexpress.report.page.runs import files_of, save_report, write_report
    from flexpress.report.page.shown_runs import common_folder
    from flexpress.report.tables.labels import show_label_mix
    from flexpress.report.tables.outlook import outlook_to_json, show_outlook
    from flexpress.report.tables.plan import (
        remedies_to_json,
        show_plan,
        show_presets,
        show_remedies,
    )
    from flexpress.report.tables.runs import runs_to_json, show_runs
    from flexpress.report.texts import cost_text
    from flexpress.report.web_map.html_map import save_map, write_map
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "figures.costs": "save_costs",
            "figures.curves": "curves_png save_curves",
            "figures.label_mix": "label_mix_png save_label_mix",
            "figures.theory": "save_theory_picture",
            "folder": "MAP PLAN_FILES default_folder write_folder",
            "page.html": "REPORT",
            "page.runs": "files_of save_report write_report",
            "page.shown_runs": "common_folder",
            "tables.labels": "show_label_mix",
            "tables.outlook": "outlook_to_json show_outlook",
            "tables.plan": "remedies_to_json show_plan show_presets show_remedies",
            "tables.runs": "runs_to_json show_runs",
            "texts": "cost_text",
            "web_map.html_map": "save_map write_map",
        },
    )

__all__ = [
    "MAP",
    "PLAN_FILES",
    "REPORT",
    "common_folder",
    "cost_text",
    "curves_png",
    "default_folder",
    "files_of",
    "label_mix_png",
    "outlook_to_json",
    "remedies_to_json",
    "runs_to_json",
    "save_costs",
    "save_curves",
    "save_label_mix",
    "save_map",
    "save_report",
    "save_theory_picture",
    "show_label_mix",
    "show_outlook",
    "show_plan",
    "show_presets",
    "show_remedies",
    "show_runs",
    "write_folder",
    "write_map",
    "write_report",
]
