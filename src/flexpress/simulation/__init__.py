"""When things happen: the clock, FedEx-Sync, FedEx-Async, the Trace."""

from flexpress.simulation.recording import Recording, record
from flexpress.simulation.simulate import simulate
from flexpress.simulation.stored_run import StoredRun, load_run
from flexpress.simulation.trace import Measurement, Trace

__all__ = ["Measurement", "Recording", "StoredRun", "Trace", "load_run", "record", "simulate"]
