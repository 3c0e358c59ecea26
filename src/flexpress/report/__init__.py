"""Pictures, tables and files out of plans and runs.

The names load their module when they are first used: tables need no pictures.
"""

from typing import TYPE_CHECKING

from flexpress.lazy import lazy_names

if TYPE_CHECKING:
    from flexpress.report.curves import curves_png
    from flexpress.report.folder import MAP, PLAN_FILES, default_folder, write_folder
    from flexpress.report.html_map import save_html_map, write_map
    from flexpress.report.label_mix import label_mix_png, save_label_mix
    from flexpress.report.label_table import show_label_mix
    from flexpress.report.numbers import cost_text
    from flexpress.report.outlook_json import outlook_to_json
    from flexpress.report.outlook_table import show_outlook
    from flexpress.report.page_files import REPORT
    from flexpress.report.presets import show_presets
    from flexpress.report.remedies import remedies_to_json, show_remedies
    from flexpress.report.run_json import runs_to_json
    from flexpress.report.run_table import show_runs
    from flexpress.report.runs_page import files_of, save_report, write_report
    from flexpress.report.shown_run import common_folder
    from flexpress.report.table import show_plan
    from flexpress.report.theory_picture import save_theory_picture
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "curves": "curves_png",
            "folder": "MAP PLAN_FILES default_folder write_folder",
            "html_map": "save_html_map write_map",
            "label_mix": "label_mix_png save_label_mix",
            "label_table": "show_label_mix",
            "numbers": "cost_text",
            "outlook_json": "outlook_to_json",
            "outlook_table": "show_outlook",
            "page_files": "REPORT",
            "presets": "show_presets",
            "remedies": "remedies_to_json show_remedies",
            "run_json": "runs_to_json",
            "run_table": "show_runs",
            "runs_page": "files_of save_report write_report",
            "shown_run": "common_folder",
            "table": "show_plan",
            "theory_picture": "save_theory_picture",
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
    "save_html_map",
    "save_label_mix",
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
