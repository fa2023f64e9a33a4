"""Saving a theory as a folder that a person can read, and loading it.

`program.pl` holds all rules with their evidence and `theory.json` the plan
and the list of targets. Each target has a folder of its own, written as soon
as it is learned, so that a run that was stopped goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

import andre
from andre.errors import AndreError, CheckpointError
from andre.evaluation import Confusion
from andre.facts import FactBase
from andre.files import write_whole
from andre.learning import Config, Counts, Definition, Plan, Rejected, RulePool, Theory
from andre.logic import Program, from_json, to_json, to_prolog
from andre.runs.results import load_result, save_result
from andre.samples import Language

__all__ = ["RunFolder", "load_theory", "save_theory"]


_INDEX = "theory.json"
_FORMAT = 2


def save_theory(theory: Theory, folder: Path | str) -> None:
    """Write a theory into a folder; `load_theory` reads it back.

    Examples
    --------
    >>> import tempfile
    >>> from andre.facts.tasks import TASKS
    >>> from andre.learning.learn import learn
    >>> folder = tempfile.mkdtemp()
    >>> save_theory(learn(TASKS["predecessor"].train(), "predecessor/2", variables=2), folder)
    >>> print(load_theory(folder).program)
    predecessor(X1, X2) :- successor(X2, X1).
    """
    run = RunFolder(Path(folder))
    for definition in theory:
        run.keep(definition)
    run.close(theory)


def load_theory(folder: Path | str) -> Theory:
    """Read back what `save_theory` wrote."""
    folder = Path(folder)
    if not (folder / _INDEX).is_file():
        raise CheckpointError(f"there is no learned theory in {folder}: it has no {_INDEX}")
    try:
        index = json.loads((folder / _INDEX).read_bytes())
        if index["format"] != _FORMAT:
            raise CheckpointError(
                f"the theory in {folder} has format {index['format']}, which this version cannot read: "
                f"use andre {index['andre']}"
            )
        run = RunFolder(folder)
        definitions = tuple(run.load(target) for target in index["targets"])
        return Theory(definitions, _plan(index["plan"]), index["skipped"])
    except CheckpointError:
        raise
    except (AndreError, AttributeError, KeyError, TypeError, ValueError, OSError) as error:
        raise CheckpointError(f"the theory in {folder} is damaged ({error}): learn it again") from None


class RunFolder:
    """A folder that fills up target by target.

    Parameters
    ----------
    folder
        Where; made if need be.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder, self.task = Path(folder), ""
        if self.folder.exists() and not self.folder.is_dir():
            raise CheckpointError(f"{self.folder} is a file: name a folder, or a new one")

    def begin(self, facts: FactBase, plan: Plan) -> None:
        """Say what is learned: only targets kept for the same facts and plan are taken up again."""
        plain = _plain_plan(plan)
        plain["language"]["target"] = None  # every target has its own place
        told = {"andre": andre.__version__, "world": facts.world, "plan": plain}
        digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
        digest.update(repr(facts.constants).encode())
        for key, relation in sorted(facts.relations.items()):
            digest.update(repr(key).encode())
            for column in (relation.codes, relation.probability, relation.mark, relation.negative):
                digest.update(b"-" if column is None else np.ascontiguousarray(column).tobytes())
        self.task = digest.hexdigest()

    def known(self, target: str) -> Definition | None:
        """The definition of a target, where it was learned here before from the same facts and plan."""
        path = self._place(target) / "definition.json"
        if not self.task or not path.is_file():
            return None
        try:
            if json.loads(path.read_bytes())["task"] != self.task:
                return None
            return self.load(target)
        except (AndreError, AttributeError, KeyError, TypeError, ValueError, OSError):
            return None  # what cannot be read is learned again

    def keep(self, definition: Definition) -> None:
        """Write one definition; its index last, so that it counts only when whole."""
        place = self._place(definition.target)
        save_result(definition.result, place)
        index = {
            # What Ctrl-C cut short can be read, and is learned anew when the run goes on.
            "task": "" if definition.result.stopped == "interrupted" else self.task,
            "target": definition.target,
            "program": json.loads(to_json(definition.program)),
            "counts": asdict(definition.counts),
            "confusion": asdict(definition.confusion),
            "length": definition.length,
            "empty_length": definition.empty_length,
            "pool": {
                "bodies": definition.pool.numbers(),
                "counts": definition.pool.counts.tolist(),
                "identity": definition.pool.identity,
            },
            "rejected": {
                "program": json.loads(to_json(Program(tuple(item.rule for item in definition.rejected)))),
                "reasons": [item.reason for item in definition.rejected],
            },
            "reason": definition.reason,
            "notes": list(definition.notes),
            "seconds": definition.seconds,
        }
        write_whole(place / "program.pl", to_prolog(definition.program))
        write_whole(place / "definition.json", json.dumps(index))

    def load(self, target: str) -> Definition:
        """Read one definition."""
        place = self._place(target)
        index = json.loads((place / "definition.json").read_bytes())
        left_out = from_json(json.dumps(index["rejected"]["program"]), str(place))
        reasons = index["rejected"]["reasons"]
        result, pool = load_result(place), index["pool"]
        return Definition(
            target=index["target"],
            program=from_json(json.dumps(index["program"]), str(place)),
            counts=Counts(**index["counts"]),
            confusion=Confusion(**index["confusion"]),
            length=index["length"],
            empty_length=index["empty_length"],
            result=result,
            pool=RulePool.from_numbers(result.space, pool["bodies"], pool["counts"], pool["identity"]),
            rejected=tuple(Rejected(rule, why) for rule, why in zip(left_out, reasons, strict=True)),
            reason=index["reason"],
            notes=tuple(index["notes"]),
            seconds=index["seconds"],
        )

    def close(self, theory: Theory) -> None:
        """Write the program of all targets, and the index."""
        index = {
            "format": _FORMAT,
            "andre": andre.__version__,
            "plan": _plain_plan(theory.plan),
            "targets": [definition.target for definition in theory],
            "skipped": dict(theory.skipped),
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self.folder / "program.pl", to_prolog(theory.program))
        write_whole(self.folder / _INDEX, json.dumps(index, indent=1))

    def _place(self, target: str) -> Path:
        """The folder of a target, its name made fit for any file system and still unique."""
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", target)
        mark = (
            "" if plain.replace("_", "/") == target else "-" + hashlib.sha256(target.encode()).hexdigest()[:8]
        )
        return self.folder / "targets" / (plain + mark)


def _plain_plan(plan: Plan) -> dict[str, Any]:
    own = {field.name: getattr(plan, field.name) for field in fields(Plan)}
    own["language"] = asdict(plan.language)
    own["known"] = json.loads(to_json(plan.known))
    own["config"] = json.loads(plan.config.model_dump_json(exclude={"time_limit", "device"}))
    return own


def _plan(index: dict[str, Any]) -> Plan:
    language = dict(index["language"])
    if isinstance(language["types"], list):
        language["types"] = tuple((name, tuple(kinds)) for name, kinds in language["types"])
    known = from_json(json.dumps(index["known"]))
    config = Config.read(index["config"])
    return Plan(**{**index, "language": Language(**language), "config": config, "known": known})
