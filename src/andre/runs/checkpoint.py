"""Checkpoints: the state of a learner that is not done yet, kept so that learning can go on."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import torch

from andre.errors import CheckpointError
from andre.learning import Candidate, Config, Finished, Look, ProgressKeeper, Runs, State
from andre.runs.codec import fingerprint
from andre.runs.folder import IndexedFolder, warn_of
from andre.samples import Codes, Sample


@dataclass(frozen=True)
class _Progress:
    """The part of a learner's `State` from which learning can go on."""

    finished: list[Finished]
    runs: Runs | None
    best: Candidate
    chosen: Candidate | None
    falls: bool
    history: list[Look]
    seconds: float


class Checkpoint(ProgressKeeper):
    """Keeps a learner's state in a folder, and brings it back.

    Learning that goes on from a checkpoint ends with the same result, bit for
    bit, as if it had never been stopped. Then the checkpoint is deleted.

    Parameters
    ----------
    folder
        The folder; made if there is none.
    every
        Least number of seconds between two checkpoints.
    """

    def __init__(self, folder: Path | str, every: float = 10.0) -> None:
        self.folder, self.every = Path(folder), every
        self._store = IndexedFolder(self.folder, "checkpoint", "delete the folder to start anew")
        self._saved = time.monotonic()
        self._task: dict[str, Any] = {}

    def begin(self, sample: Sample, config: Config, fixed: Codes | None = None) -> None:
        """Say what is learned: a checkpoint of other rows, settings or known rules is refused."""
        # The keys are what messages call them. A time limit may change from one call to the next.
        self._task = {
            "rows": fingerprint(sample),
            "known rules": [] if fixed is None else fixed.tolist(),
            "settings": config.model_dump(mode="json", exclude={"time_limit", "device"}),
        }

    def on_extract(self, state: State) -> None:
        """Save, if the last checkpoint is old enough."""
        if time.monotonic() - self._saved >= self.every:
            self.save(state)

    def close(self, state: State) -> None:
        """Save if learning was stopped; delete the checkpoint if it is done."""
        if state.stopped:
            self.save(state)
        elif self.folder.is_dir():
            self._store.delete()

    def save(self, state: State) -> None:
        """Write the state, whole or not at all; where that fails, learning goes on, with a warning."""
        parts = {field.name: getattr(state, field.name) for field in fields(_Progress)}
        try:
            self._store.write(_Progress(**parts), task=self._task)
        except OSError as error:
            warn_of(error, self.folder)
        self._saved = time.monotonic()

    def restore(self, state: State, device: torch.device) -> None:
        """Fill a fresh state from the folder, if it holds a checkpoint."""
        self._store.check_path()
        if not self._store.index.is_file():
            return
        index = self._store.read()
        with self._store.decoding():
            changed = [what for what, value in self._task.items() if index["task"][what] != value]
        if changed:
            raise CheckpointError(
                f"the checkpoint in {self.folder} was made with other {changed[0]}: "
                "take another folder, or delete this one to start anew"
            )
        progress = self._store.content(index, _Progress)
        if progress.runs is not None:
            tensors = {name: part for name, part in vars(progress.runs).items() if name != "step"}
            moved = {name: tensor.to(device) for name, tensor in tensors.items()}
            progress = replace(progress, runs=replace(progress.runs, **moved))
        for field in fields(_Progress):
            setattr(state, field.name, getattr(progress, field.name))


def keepers(folder: Path | str | None) -> Callable[[int], Checkpoint] | None:
    """A checkpoint for the runs of each class of a classifier, in one folder; None for no folder."""
    return None if folder is None else lambda number: Checkpoint(Path(folder) / f"class-{number}")
