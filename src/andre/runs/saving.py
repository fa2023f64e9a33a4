"""Saving what was learned, and opening it again.

A run is a folder. `run.json` says which kind of run it is, where it comes from and
what it holds, with arrays in a safetensors file beside it. `program.pl` is the
program with its evidence, for people and Prolog systems. The folder of a `Theory`
has a folder of the same layout for each target, which is written as soon as the
target is learned.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeAlias, get_type_hints

import andre
from andre.arrays import Ints
from andre.completion import Completion, CompletionConfig, DirectionRules, Graph, PackedRules
from andre.errors import CheckpointError, type_of
from andre.facts import Background, FactBase, Relation, World
from andre.learning import (
    CrispRules,
    Definition,
    PathStep,
    Plan,
    Result,
    RuleClassifier,
    RulePath,
    Theory,
    WeightedRules,
)
from andre.logic import Atom, Program, format_count, to_prolog
from andre.runs.codec import decode, fingerprint
from andre.runs.folder import IndexedFolder, warn_of
from andre.runs.origin import Origin
from andre.samples import RuleSpace

#: Letters of a relation's name that a folder is named by.
_LONGEST = 100

#: What a saved run may hold: rules learned from a table, from truth values, from facts, or a completed
#: knowledge base.
Run: TypeAlias = RuleClassifier | Result | Theory | Completion

#: Rules of a completion that are written as Prolog, for people.
_MOST_RULES = 50_000


def save(run: Run, path: Path | str, origin: Origin | None = None) -> None:
    """Write a run into a folder; a run that is there is replaced.

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
    >>> from andre.learning import Config, fit
    >>> from andre.samples import SYNTHETIC_TASKS
    >>> folder = tempfile.mkdtemp()
    >>> result = fit(SYNTHETIC_TASKS["four"].sample(100, seed=0), Config.preset(rounds=1))
    >>> save(result, folder, Origin(("andre", "fit", "four.csv")))
    >>> print(load(folder).program)
    h :- b1, \\+ b3.
    h :- b4, \\+ b2.
    >>> load_origin(folder).line
    'andre fit four.csv'
    """
    if isinstance(run, Theory):
        folder = RunFolder(path, origin, fingerprint((run.plan, [made.program for made in run])))
        for definition in run:
            folder.keep(definition)
        folder.close(run)
        return
    content: Any = run
    kind = "result"
    if isinstance(run, Completion):
        content, kind = _Completed.of(run), "completion"
    elif isinstance(run, RuleClassifier):
        content, kind = _Classifying.of(run), "classifier"
    IndexedFolder(Path(path)).write(content, prolog(run), kind=kind, origin=origin)


def load(path: Path | str) -> Run:
    """Open a saved run: a `RuleClassifier` or `Result` of `fit`, a `Theory` of `learn`, or a `Completion`.

    Parameters
    ----------
    path
        The folder that `.save(path)` wrote, or a command with `--out`.

    Raises
    ------
    CheckpointError
        If there is no run, or one that is damaged or of another version.
    """
    if not isinstance(path, Path | str):
        raise CheckpointError(f"{type_of(path)} is no path: give the folder that a run was saved in")
    folder = IndexedFolder(Path(path))
    index = _index(folder)
    kind = index.get("kind")
    with folder.decoding():
        if kind == "result":
            return folder.content(index, Result)
        if kind == "classifier":
            return folder.content(index, _Classifying).classifier()
        if kind == "theory":
            found = folder.content(index, _Learned)
            definitions = [_read_target(folder.path, name, found.task).definition for name in found.targets]
            return Theory(tuple(definitions), found.plan, found.skipped, found.background, found.prolog)
        if kind == "completion":
            return folder.content(index, _Completed).completion()
        if kind == "target":
            whole = folder.path.parent.parent
            raise CheckpointError(f"{folder.path} holds one target of the run in {whole}: open that")
        raise ValueError(f"{kind!r} is no kind of run")


def load_origin(path: Path | str) -> Origin | None:
    """Where a saved run comes from, or None if that was not saved."""
    folder = IndexedFolder(Path(path))
    index = _index(folder)
    with folder.decoding():
        origin: Origin | None = decode(Origin | None, index["origin"], {})
    return origin


def is_run(path: Path | str) -> bool:
    """Whether a path is the folder of a run, be it finished or not."""
    return IndexedFolder(Path(path)).index.is_file() or _has_targets(Path(path))


def program_of(run: Run) -> Program:
    """The rules of a run of any kind."""
    return run.rules if isinstance(run, Completion) else run.program


def prolog(run: Run) -> str:
    """The program of a run as a Prolog file, its evidence in comments."""
    if isinstance(run, RuleClassifier):
        return _weighted_prolog(run)
    remarks = [
        f"% {score.split}: accuracy {score.accuracy:.4f} on {format_count(score.rows)} rows\n"
        for score in (run.scores if isinstance(run, Result) else ())
    ]
    if isinstance(run, Theory):
        for made in run:
            if len(made.program) and not made.flawless:
                remarks.append(f"% {made.target}: {made.confusion.summary}\n")
        remarks += [f"% {made.target} is weak: {made.weak}\n" for made in run if made.weak is not None]
    if (
        isinstance(run, Completion)
        and (count := sum(len(some.bodies) for some in run.features.values())) > _MOST_RULES
    ):
        few = _MOST_RULES // len(run.features)
        remarks.append(
            f"% Of {count:,} rules, the {few:,} surest of each relation and side; the run has all.\n"
        )
        return "".join(remarks) + to_prolog(run.surest_rules(few), rounded=True)
    return "".join(remarks) + to_prolog(program_of(run), rounded=True)


def _weighted_prolog(run: RuleClassifier) -> str:
    """Scores and weights in comments, and the rules about rows of a table."""
    lines = [f"% {one.split}: {one} on {format_count(one.rows)} rows\n" for one in run.scores]
    if isinstance(run.rules, WeightedRules):
        lines.append("% A rule adds its weight to the log-odds of its head; as Prolog, it derives it.\n")
        rates = zip(run.heads, run.base_rates.values(), strict=True)
        lines.append(f"% Where none fires: {', '.join(f'{head} {rate:.4f}' for head, rate in rates)}\n")
        lines += [f"% weight {one.weight:+.2f}: {one.rule}\n" for one in run.weighted_rules]
    return "".join(lines) + to_prolog(run.program, rounded=True)


class RunFolder:
    """The folder of a `Theory`, filled target by target.

    A target that was learned before from the same facts by the same plan is
    read from it, unless Ctrl-C cut its learning short, or the time limit did
    and there is more time now. Where the folder cannot be written to, learning goes
    on, with a warning: `failed` says why.

    Parameters
    ----------
    folder
        The folder; made if there is none.
    origin
        Where the run comes from, for its report.
    task
        What tells this run from others, where `begin` is not called.
    """

    def __init__(self, folder: Path | str, origin: Origin | None = None, task: str = "") -> None:
        self.folder, self.origin = Path(folder), origin
        self._store = IndexedFolder(self.folder)
        self._store.check_path()
        self._task, self._time_limit = task, 0.0
        self._is_learning = False
        self.failed: OSError | None = None

    def begin(self, facts: FactBase, plan: Plan) -> None:
        """Say what is learned from, and how."""
        self._is_learning = True
        # Every target has its own folder; the time limit matters only where it was reached.
        config = plan.config.model_copy(update={"time_limit": None, "device": "cpu"})
        aimless = replace(plan, language=replace(plan.language, target=""), config=config)
        self._task = fingerprint((andre.__version__, facts.world, facts.constants, facts.relations, aimless))
        limit = plan.config.time_limit
        self._time_limit = float("inf") if limit is None else limit

    def known(self, target: str) -> Definition | None:
        """The definition of a target that need not be learned again."""
        try:
            found = _read_target(self.folder, target, self._task)
        except CheckpointError:  # none, or none that can be read
            return None
        stopped = found.definition.result.stopped
        done = stopped is None or (stopped == "time" and self._time_limit <= found.time_limit)
        return found.definition if done and found.task == self._task != "" else None

    def keep(self, definition: Definition) -> None:
        """Write the definition of one target."""
        content = _Target(self._task, self._time_limit, definition)
        with self._going_on():
            _target_folder(self.folder, definition.target, self._task).write(
                content, to_prolog(definition.program, rounded=True), kind="target"
            )

    def close(self, theory: Theory) -> None:
        """Write the program of all targets, and the index that makes the folder a run."""
        targets = tuple(definition.target for definition in theory)
        content = _Learned(theory.plan, targets, theory.skipped, theory.background, theory.prolog, self._task)
        if self.failed is not None:  # a run without some of its targets would be damaged
            return
        with self._going_on():
            replaced = self._targets_of_another_task()
            self._store.write(content, prolog(theory), kind="theory", origin=self.origin)
            for folder in replaced:
                folder.delete()
                with suppress(OSError):  # it holds files of others
                    folder.path.rmdir()

    @contextmanager
    def _going_on(self) -> Iterator[None]:
        """Let no failure to write cost what is being learned."""
        try:
            yield
        except OSError as error:
            if not self._is_learning:
                raise
            if self.failed is None:
                warn_of(error, self.folder)
            self.failed = error

    def _targets_of_another_task(self) -> list[IndexedFolder]:
        """The folders of the targets of the run that is here already, unless they are of the same task."""
        try:
            found = self._store.content(self._store.read(), _Learned)
        except CheckpointError:  # none, or one of another kind
            return []
        old = [] if found.task == self._task else found.targets
        return [_target_folder(self.folder, name, found.task) for name in old]


class DirectionFolder:
    """The directions of a completion that is being learned, so that a stopped run goes on where it was.

    Parameters
    ----------
    folder
        The folder of the run; they lie in `directions` in it, until `close`.
    """

    def __init__(self, folder: Path | str) -> None:
        self._path, self._task = Path(folder) / "directions", ""

    def begin(self, graph: Graph, config: CompletionConfig) -> None:
        """Say what is learned from, and how; what the time limit cuts is not kept."""
        plain = config.model_copy(update={"time_limit": None, "memory": None})
        parts = (graph.relations, graph.n, graph.train, graph.valid, graph.assumed)
        self._task = fingerprint((andre.__version__, *parts, plain))

    def known(self, step: int) -> DirectionRules | None:
        """A direction that need not be learned again."""
        folder = self._folder(step)
        try:
            index = folder.read()
            return folder.content(index, DirectionRules) if index.get("task") == self._task else None
        except CheckpointError:  # none, or none that can be read
            return None

    def keep(self, rules: DirectionRules) -> None:
        """Write one direction."""
        self._folder(rules.step).write(rules, kind="direction", task=self._task)

    def close(self) -> None:
        """Delete them all: what was learned lies in the run."""
        if self._path.is_dir():
            for file in self._path.iterdir():
                file.unlink()
            self._path.rmdir()

    def _folder(self, step: int) -> IndexedFolder:
        return IndexedFolder(self._path, name=str(step))


@dataclass(frozen=True)
class _Target:
    """What is saved of one target."""

    task: str  #: digest of facts and plan
    time_limit: float  #: seconds that there were for it
    definition: Definition


@dataclass(frozen=True)
class _Learned:
    """What is saved of a theory beside its targets."""

    plan: Plan
    targets: tuple[str, ...]
    skipped: Mapping[str, str]
    background: Program = field(default=Program())
    prolog: Background | None = None
    task: str = ""  #: as in its targets


@dataclass(frozen=True)
class _Classifying:
    """What is saved of a classifier: the atoms of all its rule sets follow from its encoding."""

    rules: WeightedRules | CrispRules
    path: RulePath | None
    rest: Mapping[str, Any]  #: all other fields of a `RuleClassifier`

    @classmethod
    def of(cls, run: RuleClassifier) -> _Classifying:
        names = {one.name for one in fields(run)} - {"rules", "path"}
        rest = {name: getattr(run, name) for name in sorted(names)}
        bare = RuleSpace(run.rules.space.head, (Atom("left_out"),))
        return cls(replace(run.rules, space=bare), _in_space(run.path, bare), rest)

    def classifier(self) -> RuleClassifier:
        hints = get_type_hints(RuleClassifier)
        rest = {name: decode(hints[name], part, {}) for name, part in self.rest.items()}
        space = rest["encoding"].space(self.rules.space.head)
        return RuleClassifier(
            rules=replace(self.rules, space=space), path=_in_space(self.path, space), **rest
        )


def _in_space(path: RulePath | None, space: RuleSpace) -> RulePath | None:
    """The same rule sets over another space."""

    def moved(step: PathStep) -> PathStep:
        return replace(step, rules=replace(step.rules, space=space))

    if path is None:
        return None
    crisp, averaged = (None if one is None else moved(one) for one in (path.crisp, path.averaged))
    return replace(
        path, steps=tuple(map(moved, path.steps)), chosen=moved(path.chosen), crisp=crisp, averaged=averaged
    )


@dataclass(frozen=True)
class _Completed:
    """What is saved of a completion: its graph and features follow from it."""

    constants: tuple[str | int | float, ...]
    relations: tuple[Relation, ...]
    world: World
    assumed: Ints
    rules: Mapping[int, PackedRules]  #: by step
    rest: Mapping[str, Any]  #: all other fields of a `Completion`

    @classmethod
    def of(cls, done: Completion) -> _Completed:
        facts, relations = done.facts, tuple(done.facts.relations.values())
        rules = {step: PackedRules.of(features) for step, features in done.features.items()}
        names = {one.name for one in fields(done)} - {"facts", "graph", "features"}
        rest = {name: getattr(done, name) for name in sorted(names)}
        return cls(facts.constants, relations, facts.world, done.graph.assumed, rules, rest)

    def completion(self) -> Completion:
        facts = FactBase.from_relations(self.constants, self.relations, world=self.world)
        hints = get_type_hints(Completion)
        rest = {name: decode(hints[name], part, {}) for name, part in self.rest.items()}
        found = Completion.restored(facts, self.assumed, self.rules, **rest)
        if not all(rules.fits(found.graph) for rules in self.rules.values()):
            raise ValueError("its rules read what its graph has not")
        return found


def _index(folder: IndexedFolder) -> dict[str, Any]:
    """The index of a run."""
    if folder.index.is_file():
        return folder.read()
    if _has_targets(folder.path):
        raise CheckpointError(
            f"{folder.path} is of a run that was ended before all targets were learned: "
            "the call of andre learn that began it goes on"
        )
    program = folder.path / "program.pl"
    if program.is_file():
        raise CheckpointError(
            f"{folder.path} has {program.name} and no {folder.index.name}, as earlier versions saved a run: "
            f"{folder.advice}, or give {program}"
        )
    if folder.path.is_file():
        raise CheckpointError(f"{folder.path} is a file and no saved run: name a folder that --out wrote")
    if not folder.path.is_dir():
        raise CheckpointError(f"there is no folder {folder.path}: check the path")
    raise CheckpointError(f"there is no saved run in {folder.path}: it has no {folder.index.name}")


def _has_targets(folder: Path) -> bool:
    """Whether a folder holds targets that were learned."""
    return any(folder.glob("targets/*/run.json"))


def _target_folder(folder: Path, target: str, task: str) -> IndexedFolder:
    """The folder of a target: its name made fit for any file system, and still unique.

    Each task has its own, so that one that is stopped leaves the run that was there before as it was.
    """
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", target)[:_LONGEST]
    if plain.replace("_", "/") != target:
        plain += "-" + hashlib.sha256(target.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return IndexedFolder(folder / "targets" / "-".join(filter(None, (plain, task[:8]))))


def _read_target(folder: Path, target: str, task: str) -> _Target:
    place = _target_folder(folder, target, task)
    return place.content(_index(place), _Target)
