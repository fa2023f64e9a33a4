"""The entry point of the command `andre` and of `python -m andre`."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from types import FrameType


def _stop(signum: int, frame: FrameType | None) -> None:
    """End at once with a message: nothing has been done yet, or everything has."""
    os.write(2, b"andre: stopped by Ctrl-C before there was a result: nothing is lost but the time\n")
    os._exit(130)


def run() -> None:
    """Run the command line and end the process at once.

    A normal exit would first delete every object, which takes seconds for millions of facts.
    """
    # Until the command handles Ctrl-C itself; a parent that ignores the signal keeps it ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)
    from andre.cli.app import main  # noqa: PLC0415  (slow to load, so the handler comes first)

    status: object = 0
    try:
        main()
    except SystemExit as end:
        status = end.code
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the output is still being flushed
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
    atexit._run_exitfuncs()
    os._exit(status if isinstance(status, int) else int(status is not None))


if __name__ == "__main__":
    run()
