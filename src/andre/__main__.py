"""`python -m andre` is `andre`."""

from __future__ import annotations

import atexit
import os
import sys


def run() -> None:
    """Run the command line, and leave at once when it is done.

    Python would first take every fact apart, one after the other: seconds, where there are millions.
    """
    from andre.cli.app import main  # noqa: PLC0415  (what is not asked for is not loaded)

    status: object = 0
    try:
        main()
    except SystemExit as end:
        status = end.code
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
    atexit._run_exitfuncs()
    os._exit(status if isinstance(status, int) else int(status is not None))


if __name__ == "__main__":
    run()
