"""When things happen: the clock, FedEx-Sync, FedEx-Async, the Trace."""

from flexpress.simulation.compare import (
    RunProgress,
    RunsProgress,
    compare,
    run_folders,
    simulate,
)
from flexpress.simulation.recording import Recording, record
from flexpress.simulation.run_names import RunName, compared_runs
from flexpress.simulation.stored_run import StoredRun, find_runs, load_run
from flexpress.simulation.trace import Measurement, Trace

__all__ = [
    "Measurement",
    "Recording",
    "RunName",
    "RunProgress",
    "RunsProgress",
    "StoredRun",
    "Trace",
    "compare",
    "compared_runs",
    "find_runs",
    "load_run",
    "record",
    "run_folders",
    "simulate",
]
