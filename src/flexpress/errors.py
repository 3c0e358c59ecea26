"""Errors a user can cause, each with the exit code the command line ends with."""


class FlexpressError(Exception):
    """One clear line for the user: the value, the limit, the remedy."""

    exit_code = 1


class InputError(FlexpressError):
    """A file, key or option holds something that is not allowed."""

    exit_code = 2


class InfeasibleError(FlexpressError):
    """No plan was found that keeps every transporter within its energy budget."""

    exit_code = 3


class DivergedError(FlexpressError):
    """Training blew up: the loss is no longer finite."""

    exit_code = 4

    def __init__(self, message: str, trace: object = None) -> None:
        super().__init__(message)
        self.trace = trace  # a flexpress.simulation.Trace of everything before
