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
