"""flexpress: federated learning by model express delivery.

The public names load their room when they are first used.
"""

from flexpress.lazy import lazy_names

TYPE_CHECKING = False  # as type checkers know it; importing typing would take as long as the rest

if TYPE_CHECKING:
    from flexpress import arrays as arrays
    from flexpress import control as control
    from flexpress import field as field
    from flexpress import files as files
    from flexpress import learning as learning
    from flexpress import planning as planning
    from flexpress import report as report
    from flexpress import scenario as scenario
    from flexpress import simulation as simulation
    from flexpress import theory as theory
    from flexpress.errors import DivergedError, FlexpressError, InfeasibleError, InputError
    from flexpress.experiments.reproduce import reproduce
    from flexpress.learning import Job, Learner, Metrics, Quadratic, TrainingLoss, make_learner
    from flexpress.learning.on_ray import RayLearner
    from flexpress.planning import (
        Plan,
        Tour,
        certify_plan,
        diagnose,
        export_plan,
        load_plan,
        make_plan,
        save_plan,
    )
    from flexpress.report import (
        save_costs,
        save_curves,
        save_label_mix,
        save_map,
        save_report,
        save_theory_picture,
    )
    from flexpress.scenario import Scenario
    from flexpress.simulation import (
        Measurement,
        Recording,
        StoredRun,
        Trace,
        compare,
        load_run,
        record,
        simulate,
    )
    from flexpress.theory.bound import bound
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "": "arrays control field files learning planning report scenario simulation theory",
            "errors": "DivergedError FlexpressError InfeasibleError InputError",
            "experiments.reproduce": "reproduce",
            "learning": "Job Learner Metrics Quadratic TrainingLoss make_learner",
            "learning.on_ray": "RayLearner",
            "planning": "Plan Tour certify_plan diagnose export_plan load_plan make_plan save_plan",
            "report": "save_costs save_curves save_label_mix save_map save_report "
            "save_theory_picture",
            "scenario": "Scenario",
            "simulation": "Measurement Recording StoredRun Trace compare load_run record simulate",
            "theory.bound": "bound",
        },
    )


__version__ = "0.11.0"

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
    "bound",
    "certify_plan",
    "compare",
    "diagnose",
    "export_plan",
    "load_plan",
    "load_run",
    "make_learner",
    "make_plan",
    "record",
    "reproduce",
    "save_costs",
    "save_curves",
    "save_label_mix",
    "save_map",
    "save_plan",
    "save_report",
    "save_theory_picture",
    "simulate",
]
