"""How much memory this process has taken."""

from __future__ import annotations

import sys

__all__ = ["peak_megabytes"]


def peak_megabytes() -> float | None:
    """The most memory this process has taken so far, where the system tells.

    Examples
    --------
    >>> peak = peak_megabytes()
    >>> peak is None or peak > 1
    True
    """
    try:
        import resource  # noqa: PLC0415
    except ImportError:  # Windows has no such module
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10
