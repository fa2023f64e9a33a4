"""Checkpoints: unfinished work on disk, as safetensors and JSON.

The tensors are written under a new name and the JSON, which names them and
their digest, replaces the old one last: a crash leaves the old checkpoint or
the new one, never half of each.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load, save
from torch import Tensor

from andre.errors import CheckpointError
from andre.files import write_whole
from andre.learning import Candidate, Config, Finished, Look, ProgressKeeper, Runs, State
from andre.samples import Codes, Sample

__all__ = ["Checkpoint"]


_INDEX = "checkpoint.json"
_VERSION = 1


class Checkpoint(ProgressKeeper):
    """Keeps a learner's state in a folder, and brings it back.

    Parameters
    ----------
    folder
        Where; made if need be.
    every
        Seconds between two checkpoints at the least.
    """

    def __init__(self, folder: Path | str, every: float = 10.0) -> None:
        self.folder, self.every = Path(folder), every
        self._saved = time.monotonic()
        self._task: dict[str, Any] = {}

    def begin(self, sample: Sample, config: Config, fixed: Codes | None = None) -> None:
        """Say what is learned: a checkpoint of other rows, settings or known rules is refused."""
        self._task = {
            "version": _VERSION,
            "sample": _digest_of(sample),
            "known": [] if fixed is None else fixed.tolist(),
            "config": _settings(config),
        }

    def on_extract(self, state: State) -> None:
        """Save, if the last checkpoint is old enough."""
        if time.monotonic() - self._saved >= self.every:
            self.save(state)

    def close(self, state: State) -> None:
        """Save what was stopped, and clear away what is finished."""
        if state.stopped:
            self.save(state)
        else:
            for path in (self.folder / _INDEX, *self.folder.glob("checkpoint-*.safetensors")):
                path.unlink(missing_ok=True)

    def save(self, state: State) -> None:
        """Write the state, whole or not at all."""
        tensors, notes = _pack(state)
        data = save(tensors)
        digest = hashlib.sha256(data).hexdigest()
        name = f"checkpoint-{digest[:16]}.safetensors"
        index = {"tensors": name, "sha256": digest, **self._task, **notes}
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self.folder / name, data)
        write_whole(self.folder / _INDEX, json.dumps(index, indent=1).encode())
        for old in self.folder.glob("checkpoint-*.safetensors"):
            if old.name != name:
                old.unlink(missing_ok=True)
        self._saved = time.monotonic()

    def restore(self, state: State, device: torch.device) -> None:
        """Fill a fresh state from the folder, if it holds a checkpoint."""
        path = self.folder / _INDEX
        if self.folder.exists() and not self.folder.is_dir():
            raise CheckpointError(
                f"{self.folder} is no folder, so no checkpoint can be kept there: take another"
            )
        if not path.exists():
            return
        damaged = CheckpointError(
            f"the checkpoint in {self.folder} is damaged: delete the folder to start anew"
        )
        try:
            index = json.loads(path.read_bytes())
            data = (self.folder / index["tensors"]).read_bytes()
            intact = hashlib.sha256(data).hexdigest() == index["sha256"]
            task = {key: index[key] for key in self._task}
        except (ValueError, KeyError, TypeError, OSError):
            raise damaged from None
        if not intact:
            raise damaged
        names = ("versions of andre", "rows", "known rules", "settings")
        for key, what in zip(self._task, names, strict=True):
            if task[key] != self._task[key]:
                raise CheckpointError(
                    f"the checkpoint in {self.folder} was made with other {what}: "
                    "take another folder, or delete this one to start anew"
                )
        try:
            _unpack(state, {name: tensor.to(device) for name, tensor in load(data).items()}, index)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise damaged from None


def _pack(state: State) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """A state as tensors and notes."""
    tensors: dict[str, Tensor] = {}
    notes: dict[str, Any] = {
        "finished": len(state.finished),
        "falls": state.falls,
        "seconds": state.seconds,
        "step": None,
    }
    for place, finished in enumerate(state.finished):
        for field in fields(Finished):
            tensors[f"finished.{place}.{field.name}"] = torch.as_tensor(getattr(finished, field.name))
    if state.runs is not None:
        notes["step"] = state.runs.step
        for field in fields(Runs):
            if field.name != "step":
                tensors[f"runs.{field.name}"] = getattr(state.runs, field.name).contiguous()
    for name in ("best", "chosen"):
        candidate: Candidate | None = getattr(state, name)
        if candidate is not None:
            tensors[f"{name}.codes"] = torch.tensor(candidate.codes)  # a copy: both may be the same
            tensors[f"{name}.length"] = torch.tensor(candidate.length, dtype=torch.float64)
    notes["history"] = [[look.round, look.step] for look in state.history]
    for place, look in enumerate(state.history):
        for name in ("losses", "train", "validation"):
            tensors[f"history.{place}.{name}"] = torch.as_tensor(getattr(look, name))
    return tensors, notes


def _unpack(state: State, tensors: dict[str, Tensor], notes: dict[str, Any]) -> None:
    """The inverse of `_pack`."""

    def array(name: str) -> Any:
        return tensors[name].cpu().numpy()

    state.seconds, state.falls = notes["seconds"], notes["falls"]
    state.finished = [
        Finished(**{field.name: array(f"finished.{place}.{field.name}") for field in fields(Finished)})
        for place in range(notes["finished"])
    ]
    if notes["step"] is not None:
        names = [field.name for field in fields(Runs) if field.name != "step"]
        state.runs = Runs(**{name: tensors[f"runs.{name}"] for name in names}, step=notes["step"])
    for name in ("best", "chosen"):
        if f"{name}.codes" in tensors:
            setattr(state, name, Candidate(array(f"{name}.codes"), float(tensors[f"{name}.length"])))
    state.history = [
        Look(round_, step, *(array(f"history.{place}.{name}") for name in ("losses", "train", "validation")))
        for place, (round_, step) in enumerate(notes["history"])
    ]


def _digest_of(sample: Sample) -> str:
    digest = hashlib.sha256(repr((sample.space.head, sample.space.atoms)).encode())
    others: list[NDArray[Any]] = []
    if sample.members is not None:
        others += [sample.members.starts, sample.members.rows]
    for array in (sample.valuations, sample.positives, sample.negatives, *others):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _settings(config: Config) -> dict[str, Any]:
    """The settings that the result depends on; a time limit may change between sittings."""
    settings: dict[str, Any] = json.loads(config.model_dump_json(exclude={"time_limit", "device"}))
    return settings
