"""`python -m andre` is `andre`."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from types import FrameType


def _stop(signum: int, frame: FrameType | None) -> None:
    """End at once, with a sentence: nothing has been done yet, or all has been."""
    os.write(2, b"andre: stopped by Ctrl-C before there was a result: nothing is lost but the time\n")
    os._exit(130)


def run() -> None:
    """Run the command line, and leave at once when it is done.

    Python would first take every fact apart, one after the other: seconds, where there are millions.
    """
    # While Python loads what it needs: a command then handles Ctrl-C itself. Who ignores it goes on to.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)
    from andre.cli.app import main  # noqa: PLC0415  (what is not asked for is not loaded)

    status: object = 0
    try:
        main()
    except SystemExit as end:
        status = end.code
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what was printed is on its way out
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
    atexit._run_exitfuncs()
    os._exit(status if isinstance(status, int) else int(status is not None))


if __name__ == "__main__":
    run()
