"""The program `flexpress`, and `python -m flexpress`.

Ctrl-C while the commands are being loaded ends the program at once and silently.
"""

# Not `signal`, which loads much more: until the handler is set, Ctrl-C prints a traceback.
import _signal as signal  # type: ignore[import-not-found]  # mypy does not know this part of Python
import os
import sys

INTERRUPTED = 130


def leave(signal_number: int, frame: object) -> None:
    """A signal handler: an exception could end up in whatever is being imported."""
    os._exit(INTERRUPTED)


def main() -> int:
    """Run the command line, and return its exit code."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:  # otherwise it is ignored, and stays so
        signal.signal(signal.SIGINT, leave)
    from flexpress.cli import main as run_command

    try:
        signal.signal(signal.SIGINT, usual)
        return run_command()
    except KeyboardInterrupt:  # just before the command, or after it
        return INTERRUPTED
    finally:
        if usual is signal.default_int_handler:
            signal.signal(signal.SIGINT, leave)  # Python only cleans up


if __name__ == "__main__":
    sys.exit(main())
