"""Saving a learned model whole, and loading it: a folder that a person can read.

`program.pl` is the program with its evidence, for people and Prolog systems;
`result.json` is everything but the tensors, which lie in a safetensors file
that the JSON names with its digest. The JSON is written last.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

import andre
from andre.errors import AndreError, CheckpointError
from andre.files import write_whole
from andre.learning import Config, Look, Result, RunSummary, Score
from andre.logic import Atom, Constant, Evidence, Program, Variable, to_prolog
from andre.samples import RuleSpace

__all__ = ["load_result", "prolog", "save_result"]


_INDEX = "result.json"
_FORMAT = 1


def save_result(result: Result, folder: Path | str) -> None:
    """Write a result into a folder, whole or not at all; an older result there is replaced.

    Examples
    --------
    >>> import tempfile
    >>> from andre.samples import SYNTHETIC_TASKS
    >>> from andre.learning import fit
    >>> folder = tempfile.mkdtemp()
    >>> save_result(fit(SYNTHETIC_TASKS["four"].sample(100, seed=0)), folder)
    >>> print(load_result(folder).program)
    h :- b1, \\+ b3.
    h :- b4, \\+ b2.
    """
    folder = Path(folder)
    tensors: dict[str, NDArray[Any]] = {"weights": np.ascontiguousarray(result.weights)}
    if len(result.proposed):
        tensors["proposed"] = np.ascontiguousarray(result.proposed)
    for place, look in enumerate(result.history):
        for name in ("losses", "train", "validation"):
            tensors[f"history.{place}.{name}"] = np.ascontiguousarray(getattr(look, name))
    data = save(tensors)
    digest = hashlib.sha256(data).hexdigest()
    name = f"weights-{digest[:12]}.safetensors"
    index = {
        "format": _FORMAT,
        "andre": andre.__version__,
        "tensors": name,
        "sha256": digest,
        "head": _plain(result.space.head),
        "atoms": [_plain(atom) for atom in result.space.atoms],
        "config": json.loads(result.config.model_dump_json()),
        "rules": [
            {"code": code.tolist(), "evidence": [asdict(item) for item in rule.evidence]}
            for code, rule in zip(result.codes, result.program, strict=True)
        ],
        "length": result.length,
        "empty_length": result.empty_length,
        "scores": [asdict(score) for score in result.scores],
        "runs": [
            {**asdict(run), "program": result.space.encode(run.program).tolist()} for run in result.runs
        ],
        "history": [[look.round, look.step] for look in result.history],
        "seconds": result.seconds,
        "stopped": result.stopped,
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / name, data)
    write_whole(folder / "program.pl", prolog(result))
    write_whole(folder / _INDEX, json.dumps(index, indent=1))
    for old in folder.glob("weights-*.safetensors"):
        if old.name != name:
            old.unlink(missing_ok=True)


def load_result(folder: Path | str) -> Result:
    """Read back what `save_result` wrote."""
    folder = Path(folder)
    if not (folder / _INDEX).is_file():
        if (folder / "targets").is_dir():
            raise CheckpointError(
                f"{folder} is of a run that was ended before all targets were learned: "
                "the call of andre learn that began it goes on"
            )
        raise CheckpointError(f"there is no saved model in {folder}: it has no {_INDEX}")
    try:
        index = json.loads((folder / _INDEX).read_bytes())
        if index["format"] != _FORMAT:
            raise CheckpointError(
                f"the model in {folder} has format {index['format']}, which this version cannot read: "
                f"use andre {index['andre']}"
            )
        data = (folder / index["tensors"]).read_bytes()
        if hashlib.sha256(data).hexdigest() != index["sha256"]:
            raise CheckpointError(f"the model in {folder} is damaged: {index['tensors']} has changed")
        return _result(index, load(data))
    except CheckpointError:
        raise
    except (AndreError, AttributeError, KeyError, TypeError, ValueError, OSError) as error:
        raise CheckpointError(f"the model in {folder} is damaged ({error}): save it again") from None


def prolog(result: Result) -> str:
    """The program as a Prolog file, its evidence in comments."""
    scores = [
        f"% {score.split}: accuracy {score.accuracy:.4f} on {score.rows:g} rows\n" for score in result.scores
    ]
    return "".join(scores) + to_prolog(result.program)


def _result(index: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> Result:
    space = RuleSpace(_atom(index["head"]), tuple(map(_atom, index["atoms"])))
    rules = [
        space.rule(rule["code"]).with_evidence(*(Evidence(**item) for item in rule["evidence"]))
        for rule in index["rules"]
    ]
    runs = [RunSummary(**{**run, "program": space.program(run["program"])}) for run in index["runs"]]
    return Result(
        space=space,
        config=Config.read(index["config"]),
        program=Program(tuple(rules)),
        length=index["length"],
        empty_length=index["empty_length"],
        scores=tuple(Score(**score) for score in index["scores"]),
        runs=tuple(runs),
        history=tuple(
            Look(*at, *(tensors[f"history.{place}.{name}"] for name in ("losses", "train", "validation")))
            for place, at in enumerate(index["history"])
        ),
        weights=tensors["weights"],
        proposed=tensors.get("proposed", np.zeros((0, space.m), dtype=np.int8)),
        seconds=index["seconds"],
        stopped=index["stopped"],
    )


def _plain(atom: Atom) -> list[Any]:
    """An atom as JSON: its predicate, then a string per variable and a list per constant."""
    return [atom.predicate, *(arg.name if isinstance(arg, Variable) else [arg.value] for arg in atom.args)]


def _atom(plain: Sequence[Any]) -> Atom:
    predicate, *args = plain
    return Atom(
        predicate, tuple(Constant(arg[0]) if isinstance(arg, list) else Variable(arg) for arg in args)
    )
