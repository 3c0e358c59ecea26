"""The program `flexpress`, and `python -m flexpress`.

Ctrl-C while the commands are still being loaded ends the program at once, without a word.
"""

# Not `signal`, which loads much more: until this is here, Ctrl-C shows what is being imported.
import _signal as signal  # type: ignore[import-not-found]  # mypy does not know this part of Python
import os
import sys

INTERRUPTED = 130


def leave(signal_number: int, frame: object) -> None:
    """A signal handler: an exception could end up in whatever is being imported."""
    os._exit(INTERRUPTED)


def main() -> int:
    """Run the command line; its exit code."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:  # else it is ignored, and shall be
        signal.signal(signal.SIGINT, leave)
    from flexpress.cli import main as run_command

    try:
        signal.signal(signal.SIGINT, usual)
        return run_command()
    except KeyboardInterrupt:  # just before the command, or after it
        return INTERRUPTED
    finally:
        if usual is signal.default_int_handler:
            signal.signal(signal.SIGINT, leave)  # all is done: Python only cleans up


if __name__ == "__main__":
    sys.exit(main())
