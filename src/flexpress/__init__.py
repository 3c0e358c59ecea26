"""flexpress: federated learning by model express delivery.

The public names load their room when they are first used, so that `import flexpress` and
`flexpress --help` are instant.
"""

TYPE_CHECKING = False  # as type checkers know it; importing typing would take as long as the rest

if TYPE_CHECKING:
    from flexpress.errors import DivergedError, FlexpressError, InfeasibleError, InputError
    from flexpress.learning import Job, Learner, Metrics, Quadratic, TrainingLoss, make_learner
    from flexpress.learning.on_ray import RayLearner
    from flexpress.planning import Plan, Tour, load_plan, make_plan, save_plan
    from flexpress.planning.bounds import certify_plan
    from flexpress.planning.diagnosis import diagnose
    from flexpress.planning.export import export_plan
    from flexpress.report.figures.curves import save_curves
    from flexpress.report.figures.label_mix import save_label_mix
    from flexpress.report.figures.theory import save_theory_picture
    from flexpress.report.page.runs import save_report
    from flexpress.report.web_map.html_map import save_map
    from flexpress.scenario import Scenario
    from flexpress.simulation import (
        Measurement,
        Recording,
        StoredRun,
        Trace,
        load_run,
        record,
        simulate,
    )
else:
    HOMES = {
        "DivergedError": "errors",
        "FlexpressError": "errors",
        "InfeasibleError": "errors",
        "InputError": "errors",
        "Job": "learning",
        "Learner": "learning",
        "Measurement": "simulation",
        "Metrics": "learning",
        "Plan": "planning",
        "Quadratic": "learning",
        "RayLearner": "learning.on_ray",
        "Recording": "simulation",
        "Scenario": "scenario",
        "StoredRun": "simulation",
        "Tour": "planning",
        "Trace": "simulation",
        "TrainingLoss": "learning",
        "certify_plan": "planning.bounds",
        "diagnose": "planning.diagnosis",
        "export_plan": "planning.export",
        "load_plan": "planning",
        "load_run": "simulation",
        "make_learner": "learning",
        "make_plan": "planning",
        "record": "simulation",
        "save_curves": "report.figures.curves",
        "save_label_mix": "report.figures.label_mix",
        "save_map": "report.web_map.html_map",
        "save_plan": "planning",
        "save_report": "report.page.runs",
        "save_theory_picture": "report.figures.theory",
        "simulate": "simulation",
    }

    def __getattr__(name: str) -> object:
        if name not in HOMES:
            raise AttributeError(f"module 'flexpress' has no attribute '{name}'")
        from importlib import import_module

        value = getattr(import_module(f"flexpress.{HOMES[name]}"), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *HOMES})


__version__ = "0.7.0"

__all__ = [
    "DivergedError",
    "FlexpressError",
    "InfeasibleError",
    "InputError",
    "Job",
    "Learner",
    "Measurement",
    "Metrics",
    "Plan",
    "Quadratic",
    "RayLearner",
    "Recording",
    "Scenario",
    "StoredRun",
    "Tour",
    "Trace",
    "TrainingLoss",
    "__version__",
    "certify_plan",
    "diagnose",
    "export_plan",
    "load_plan",
    "load_run",
    "make_learner",
    "make_plan",
    "record",
    "save_curves",
    "save_label_mix",
    "save_map",
    "save_plan",
    "save_report",
    "save_theory_picture",
    "simulate",
]
