"""Where runs train: on the processor, on a card, or where it pays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from andre.errors import ConfigError

if TYPE_CHECKING:
    import torch

#: Valuations from which on a card is faster, though it takes some seconds to start.
_WORTH_STARTING = 1 << 22


def find_device(name: str, cells: int = 0) -> torch.device:
    """The device of a name, refused where torch has none such.

    By `auto` it is a CUDA device, where there is one, for many valuations, and
    for few where this process has started one already; else the processor.

    Parameters
    ----------
    cells
        Valuations that are learned from.

    Examples
    --------
    >>> find_device("cpu")
    device(type='cpu')
    """
    import torch  # noqa: PLC0415  (slow to load, and what needs no device does without)

    if name == "auto":
        started = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
        pays = cells >= _WORTH_STARTING or started
        return torch.device("cuda" if pays and torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ConfigError(f"there is no device {name!r}: use cpu, cuda or auto") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ConfigError("the device is cuda, but torch sees no CUDA device here: use device=cpu")
    return device
