"""Learning from rows of knowledge bases by preset `paper`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from andre.learning import Config, Guide, Result, fit
from andre.samples import Form, Sample

#: The batches of the paper's table of settings, which does not say where it used which.
BATCHES = (128, 512, 4096)
#: Of them the smallest is taken that makes an epoch of no more steps than this, or else the largest.
MOST_BATCHES = 8
#: Times at which runs are looked at: what is seen there changes nothing.
_LOOKS = 10


@dataclass(frozen=True)
class PaperRuns:
    """How runs of preset `paper` are carried out."""

    seed: int = 0
    device: str = "cpu"
    steps: int | None = None  #: epochs of a run, if not the paper's 500

    def fit(self, sample: Sample, form: Form) -> Result:
        """Learn from rows by preset `paper`, with the batch of the paper's three that fits their number."""
        batch = batch_of(sample.n_rows)
        given: dict[str, Any] = {} if self.steps is None else {"steps": self.steps}
        config = Config.preset("paper", seed=self.seed, device=self.device, batch=batch, **given)
        whole = config.training.steps * math.ceil(sample.n_rows / batch)
        looks = config.training.model_copy(update={"check_every": max(1, whole // _LOOKS)})
        return fit(sample, config.model_copy(update={"training": looks}), guide=Guide(form))


def batch_of(rows: int) -> int:
    """The batch for so many distinct rows.

    Examples
    --------
    >>> batch_of(100), batch_of(2_700), batch_of(40_000)
    (128, 512, 4096)
    """
    return next((batch for batch in BATCHES if rows <= MOST_BATCHES * batch), BATCHES[-1])
