"""Training curves for TensorBoard, an extra."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from andre.errors import AndreError
from andre.learning import Callback, State

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


class TensorBoard(Callback):
    """Writes losses, accuracies and the best program so far at every look at the runs.

    Losses and accuracies are means over the runs that still move. Steps go on
    from round to round. See it with `tensorboard --logdir FOLDER`.

    Parameters
    ----------
    folder
        Where event files go; a folder a run lets TensorBoard compare them.

    Examples
    --------
    >>> import tempfile
    >>> from andre.learning import Config, fit
    >>> from andre.samples import SYNTHETIC_TASKS
    >>> with TensorBoard(tempfile.mkdtemp()) as board:
    ...     result = fit(SYNTHETIC_TASKS["four"].sample(100, 0), Config.preset(steps=30), callbacks=[board])
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self._writer = _writer(self.folder)
        self._noted = 0
        self._text = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def on_extract(self, state: State) -> None:
        """Write what was noted since the last look."""
        from andre.model import LOSSES  # noqa: PLC0415  (only runs have losses)

        for look in state.history[self._noted :]:
            step = look.round * state.steps + look.step
            for name, values in (
                *((f"loss/{loss.name}", line) for loss, line in zip(LOSSES, look.losses, strict=True)),
                ("loss/total", look.losses.sum(axis=0)),
                ("accuracy/train", look.train),
                ("accuracy/validation", look.validation),
            ):
                moving = values[~np.isnan(values)]
                if len(moving):
                    self._writer.add_scalar(name, float(moving.mean()), step)
            self._writer.add_scalar("runs/moving", int((~np.isnan(look.train)).sum()), step)
            self._writer.add_scalar("program/description", state.best.length, step)
            self._writer.add_scalar("program/rules", len(state.best.codes), step)
            if (text := str(state.program)) != self._text:
                self._text = text
                self._writer.add_text("program", "\n".join(f"    {line}" for line in text.split("\n")), step)
        self._noted = len(state.history)

    def close(self) -> None:
        """Write what is left and close the file."""
        self._writer.close()


def _writer(folder: Path) -> SummaryWriter:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what TensorBoard's own imports complain of is not ours
            from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415  # an extra
    except ImportError:
        raise AndreError(
            "TensorBoard is not installed: pip install 'andre[tensorboard]', or leave out --tensorboard"
        ) from None
    return SummaryWriter(log_dir=str(folder))
