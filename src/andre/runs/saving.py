"""Saving what was learned, and opening it again: `save`, `load`, and what every run has.

A run is a folder: `run.json` says which kind of run it is, where it comes from and
what it holds, arrays lie in a safetensors file beside it, and `program.pl` is the
program with its evidence, for people and Prolog systems. The run of a `Theory` has
a folder of the same layout for every target.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import andre
from andre.arrays import Ints
from andre.completion import (
    Body,
    Choice,
    Completion,
    CompletionConfig,
    Graph,
    LateFeatures,
    Reliability,
    Scorer,
    believed,
)
from andre.errors import CheckpointError
from andre.facts import FactBase, Relation, World
from andre.learning import Definition, Plan, Result, Theory
from andre.logic import Program, Rule, to_prolog
from andre.runs.codec import Tensors, decode, encode, fingerprint
from andre.runs.folder import IndexedFolder
from andre.runs.origin import Origin

__all__ = ["Run", "RunFolder", "is_run", "load", "load_origin", "program_of", "prolog", "save"]


#: Raised whenever what is saved changes.
_FORMAT = 1

#: What a saved run may hold: rules learned from rows, from facts, or a completed knowledge base.
Run: TypeAlias = Result | Theory | Completion


def save(run: Run, path: Path | str, origin: Origin | None = None) -> None:
    """Write a run into a folder, whole or not at all; a run that is there is replaced.

    Parameters
    ----------
    run
        What `fit`, `learn` or `complete` handed back.
    path
        The folder; made if there is none.
    origin
        Where the run comes from, for its report.

    Examples
    --------
    >>> import tempfile
    >>> from andre.learning import fit
    >>> from andre.samples import SYNTHETIC_TASKS
    >>> folder = tempfile.mkdtemp()
    >>> save(fit(SYNTHETIC_TASKS["four"].sample(100, seed=0)), folder)
    >>> print(load(folder).program)
    h :- b1, \\+ b3.
    h :- b4, \\+ b2.
    """
    folder = IndexedFolder(Path(path))
    if isinstance(run, Theory):
        RunFolder(path, origin).fill(run)
    elif isinstance(run, Completion):
        _write(folder, "completion", _CompletionRecord.of(run), prolog(run), origin)
    else:
        _write(folder, "result", run, prolog(run), origin)


def load(path: Path | str) -> Run:
    """Open a saved run: a `Result` of `fit`, a `Theory` of `learn`, or a `Completion` of `complete`.

    Parameters
    ----------
    path
        The folder that `save`, `andre fit --out`, `andre learn --out` or `andre rank --out` wrote.

    Raises
    ------
    CheckpointError
        If there is no run, or one that is damaged or of another version.
    """
    folder = IndexedFolder(Path(path))
    index = _index(folder)
    with folder.decoding():
        if index["kind"] == "result":
            result: Result = _content(folder, index, Result)
            return result
        if index["kind"] == "completion":
            record: _CompletionRecord = _content(folder, index, _CompletionRecord)
            return record.completion()
        if index["kind"] == "theory":
            return RunFolder(path).theory(_content(folder, index, _TheoryRecord))
        if index["kind"] == "target":
            whole = folder.path.parent.parent
            raise CheckpointError(f"{folder.path} holds one target of the run in {whole}: open that")
        raise ValueError(f"{index['kind']!r} is no kind of run")


def is_run(path: Path | str) -> bool:
    """Whether a path is the folder of a run, be it finished or not."""
    return IndexedFolder(Path(path)).index.is_file() or _is_unfinished(Path(path))


def load_origin(path: Path | str) -> Origin | None:
    """Where a saved run comes from, or None where that was not saved.

    Examples
    --------
    >>> import tempfile
    >>> from andre.learning import Config, fit
    >>> from andre.samples import Sample
    >>> result = fit(Sample.from_arrays([[0.0], [1.0]], [0, 1]), Config.preset(steps=10))
    >>> folder = tempfile.mkdtemp()
    >>> save(result, folder, Origin(("andre", "fit", "birds.csv")))
    >>> load_origin(folder).command
    ('andre', 'fit', 'birds.csv')
    """
    folder = IndexedFolder(Path(path))
    index = _index(folder)
    with folder.decoding():
        origin: Origin | None = decode(Origin | None, index["origin"], {})
    return origin


def program_of(run: Run) -> Program:
    """The rules of a run of any kind."""
    return run.rules if isinstance(run, Completion) else run.program


def prolog(run: Run) -> str:
    """The program of a run as a Prolog file, its evidence in comments."""
    scores = [
        f"% {score.split}: accuracy {score.accuracy:.4f} on {score.rows:g} rows\n"
        for score in (run.scores if isinstance(run, Result) else ())
    ]
    return "".join(scores) + to_prolog(program_of(run))


class RunFolder:
    """The folder of a `Theory`, filled target by target.

    A target that is in it already, learned from the same facts by the same
    plan, is not learned again, unless Ctrl-C cut it short, or the time limit
    did and there is more time now.

    Parameters
    ----------
    folder
        The folder; made if there is none.
    origin
        Where the run comes from, for its report.
    """

    def __init__(self, folder: Path | str, origin: Origin | None = None) -> None:
        self.folder, self.origin = Path(folder), origin
        self._task = ""
        self._time_limit: float | None = None
        IndexedFolder(self.folder).check_path()

    def begin(self, facts: FactBase, plan: Plan) -> None:
        """Say what is learned from, and how."""
        # Every target has its own folder; the time limit matters only where it was reached.
        config = plan.config.model_copy(update={"time_limit": None, "device": None})
        aimless = replace(plan, language=replace(plan.language, target=""), config=config)
        self._task = fingerprint((andre.__version__, facts.world, facts.constants, facts.relations, aimless))
        self._time_limit = plan.config.time_limit

    def known(self, target: str) -> Definition | None:
        """The definition of a target that needs not be learned again."""
        if not self._task or not self._place(target).index.is_file():
            return None
        try:
            record = self._record(target)
        except CheckpointError:
            return None  # what cannot be read is learned again
        stopped = record.definition.result.stopped
        more_time = self._time_limit is None or self._time_limit > (record.time_limit or 0)
        if record.task != self._task or stopped == "interrupted" or (stopped == "time" and more_time):
            return None
        return record.definition

    def keep(self, definition: Definition) -> None:
        """Write the definition of one target."""
        record = _TargetRecord(self._task, self._time_limit, definition)
        _write(self._place(definition.target), "target", record, to_prolog(definition.program))

    def close(self, theory: Theory) -> None:
        """Write the index of all targets, and their program."""
        record = _TheoryRecord(theory.plan, tuple(made.target for made in theory), theory.skipped)
        _write(IndexedFolder(self.folder), "theory", record, prolog(theory), self.origin)

    def fill(self, theory: Theory) -> None:
        """Write all targets of a theory and its index."""
        for definition in theory:
            self.keep(definition)
        self.close(theory)

    def theory(self, record: _TheoryRecord) -> Theory:
        """The theory of an index, with the targets that it names."""
        definitions = tuple(self._record(target).definition for target in record.targets)
        return Theory(definitions, record.plan, record.skipped)

    def _record(self, target: str) -> _TargetRecord:
        folder = self._place(target)
        record: _TargetRecord = _content(folder, _index(folder), _TargetRecord)
        return record

    def _place(self, target: str) -> IndexedFolder:
        """The folder of a target: its name made fit for any file system, and still unique."""
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", target)
        if plain.replace("_", "/") != target:
            plain += "-" + hashlib.sha256(target.encode()).hexdigest()[:8]
        return IndexedFolder(self.folder / "targets" / plain)


@dataclass(frozen=True)
class _TargetRecord:
    """What is saved of one target."""

    task: str  #: digest of facts and plan
    time_limit: float | None  #: that it was learned under
    definition: Definition


@dataclass(frozen=True)
class _TheoryRecord:
    """What is saved of a theory beside its targets."""

    plan: Plan
    targets: tuple[str, ...]
    skipped: Mapping[str, str]


@dataclass(frozen=True)
class _CompletionRecord:
    """What is saved of a completion; steps of its graph follow from the order of its relations."""

    constants: tuple[str | int | float, ...]
    relations: tuple[Relation, ...]
    world: World
    assumed: Ints
    bodies: Mapping[int, tuple[Body | Rule, ...]]
    scorer: Scorer
    choices: tuple[Choice, ...]
    reliability: Reliability
    config: CompletionConfig
    seconds: float

    @classmethod
    def of(cls, done: Completion) -> _CompletionRecord:
        return cls(
            done.facts.constants,
            tuple(done.facts.relations.values()),
            done.facts.world,
            done.graph.assumed,
            {step: tuple(features.bodies) for step, features in done.features.items()},
            *(done.scorer, done.choices, done.reliability, done.config, done.seconds),
        )

    def completion(self) -> Completion:
        facts = FactBase.from_relations(self.constants, self.relations, world=self.world)
        graph = replace(Graph.of(facts), assumed=self.assumed)
        features = LateFeatures(self.bodies, graph, believed(facts, graph))
        parts = (self.scorer, self.choices, self.reliability, self.config, self.seconds)
        return Completion(facts, graph, features, *parts)


def _write(
    folder: IndexedFolder, kind: str, content: Any, program: str, origin: Origin | None = None
) -> None:
    tensors: Tensors = {}
    index = {
        "format": _FORMAT,
        "andre": andre.__version__,
        "kind": kind,
        "origin": encode(origin, {}),
        "content": encode(content, tensors),
    }
    folder.write(index, tensors, program)


def _index(folder: IndexedFolder) -> dict[str, Any]:
    """The index of a run of this format."""
    if not folder.index.is_file():
        if _is_unfinished(folder.path):
            raise CheckpointError(
                f"{folder.path} is of a run that was ended before all targets were learned: "
                "the call of andre learn that began it goes on"
            )
        raise CheckpointError(f"there is no saved run in {folder.path}: it has no {folder.index.name}")
    index = folder.read()
    with folder.decoding():
        if index["format"] != _FORMAT:
            raise CheckpointError(
                f"the run in {folder.path} has format {index['format']}, which this version cannot read: "
                f"use andre {index['andre']}"
            )
    return index


def _content(folder: IndexedFolder, index: Mapping[str, Any], kind: Any) -> Any:
    tensors = folder.tensors(index)
    with folder.decoding():
        return decode(kind, index["content"], tensors)


def _is_unfinished(folder: Path) -> bool:
    return (folder / "targets").is_dir() and not IndexedFolder(folder).index.is_file()
