"""Backgrounds that only Prolog can run: SWI-Prolog tables their predicates as plain facts.

`tabled` starts from the constants of the facts, calls each predicate with the known
terms of its types, and adds the terms in its answers, in a single process that may
use neither files nor network. The results are relations like any others.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from andre.arrays import Ints
from andre.errors import ConfigError, DataError, LogicError, shorten
from andre.facts import Background, Bias, FactBase, Key, Relation, Value
from andre.limits import check, time_left
from andre.logic import Constant, is_term, number_or_none, parse_atom, quote, unquote

_PROGRAM = Path(__file__).with_name("tabling.pl")
_INSTALL = (
    "install it by `apt-get install swi-prolog-nox` or `brew install swi-prolog`, or from "
    "https://www.swi-prolog.org/Download.html"
)
#: Libraries that define operators, which the sandbox refuses: they are loaded before it is entered.
_LIBRARIES = re.compile(r":-\s*use_module\(\s*library\((?P<name>clpfd|clpb)\)\s*(?:,[^.]*)?\)\s*\.")
_ANY = "any"  # the type of all terms
_GRACE = 5.0  # seconds that Prolog has to start and to end by itself
_NOTES = {
    "beyond": ("1 answer lies farther and is left out", "{} answers lie farther and are left out"),
    "open": (
        "1 answer holds of all terms, and is left out",
        "{} answers hold of all terms, and are left out",
    ),
    "cut": (
        "1 call was cut short, so that facts may be missing",
        "{} calls were cut short, so that facts may be missing",
    ),
    "missing": (
        "1 predicate is called that nothing defines",
        "{} predicates are called that nothing defines",
    ),
}


@dataclass(frozen=True)
class Tabling:
    """Bounds on the tabling of a background in Prolog; if one is reached, a note says so.

    The depth of a term is the number of steps that lead to it from given ones. A part of an input,
    an integer within the range of the given ones, and the same term with other such numbers
    take no step: taking a list apart is free, building one is not. If a
    predicate finds its inputs for given outputs, it is also called that way, as `append` is
    for the list without its last element; what it builds is then needed to a depth of one only.
    """

    depth: int = 3  #: how many steps new terms may be away from given ones
    terms: int = 50_000  #: the most new terms
    facts: int = 500_000  #: the most facts
    seconds: float = 30.0  #: how long it may take, if no earlier deadline holds
    solutions: int = 1_000  #: the most answers of one call
    inferences: int = 1_000_000  #: the most inferences in one call
    #: The most combinations of several inputs; of more, those within reach of one example are tried.
    combinations: int = 100_000
    reach: int = 200  #: the most terms within reach of an example
    #: The most inputs for given outputs, if a predicate is called for its inputs.
    answers: int = 100
    #: The most combinations of several inputs, if a predicate is also called for its inputs.
    built: int = 1_000
    memory: int = 2 << 30  #: bytes

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < (0 if name == "depth" else 1e-3):
                raise ConfigError(f"the tabling of a background needs more {name} than {value}")


def tabled(facts: FactBase, tabling: Tabling | None = None) -> FactBase:
    """The facts with the predicates of their Prolog background as plain relations, without the background.

    With a bias, the predicates that bodies may use are tabled, with its types and
    directions; without one, all that the background defines. If directions are not
    given, those with the fewest inputs are taken for which all answers are ground.

    Raises
    ------
    ConfigError
        Where SWI-Prolog is not installed.
    LogicError
        Where the background cannot be run, or would touch files, processes or the network.
    """
    if facts.prolog is None:
        return facts
    tabling = tabling or Tabling()
    job = _Job.of(facts, facts.prolog, tabling)
    if not job.keys:
        return replace(facts, prolog=None)
    return _result(facts, job, _run(job), tabling)


def built_terms(facts: FactBase, given: FactBase) -> Ints:
    """The codes of the lists and compound terms that a background has built and that no source states.

    Parameters
    ----------
    facts, given
        The facts with the background tabled, and before.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> given = FactBase.from_facts([parse_atom("p([a,b])")])
    >>> facts = given.merge(FactBase.from_facts([parse_atom("tail([a,b], [b])"), parse_atom("len([b], 1)")]))
    >>> [facts.constants[code] for code in built_terms(facts, given)]
    ['[b]']
    """
    stated = set(given.constants)
    built = [
        code
        for code, value in enumerate(facts.constants)
        if isinstance(value, str) and value not in stated and is_term(value)
    ]
    return np.array(built, dtype=np.int64)


def find_swipl() -> str:
    """The path of SWI-Prolog.

    Raises
    ------
    ConfigError
        Where it is not installed, saying how to install it.
    """
    found = shutil.which("swipl")
    if found is None:
        raise ConfigError(f"the background needs SWI-Prolog, and there is no swipl here: {_INSTALL}")
    return found


@dataclass(frozen=True)
class _Job:
    """The input for Prolog as text, and the predicates by whose numbers it answers."""

    keys: tuple[Key, ...]
    program: str
    text: str
    seconds: float
    memory: int

    @classmethod
    def of(cls, facts: FactBase, background: Background, tabling: Tabling) -> _Job:
        bias = facts.bias or Bias()
        keys = tuple(_to_table(facts, background))
        libraries = dict.fromkeys(match["name"] for match in _LIBRARIES.finditer(background.text))
        program = "".join(_facts_for(facts, background, bias)) + _LIBRARIES.sub("", background.text)
        seconds = min(tabling.seconds, time_left().left)
        lines = [
            *(f"limit({name}, {value})." for name, value in vars(tabling).items() if name != "seconds"),
            f"limit(seconds, {seconds:.3f}).",
            *(f"library({name})." for name in libraries),
            f"background({quote(program)}).",
            *(f"t({Constant(value).canonical})." for value in facts.constants),
            *_types(facts, bias),
            *_examples(facts, bias),
            *_steps(facts, bias),
            *(_declaration(number, key, bias) for number, key in enumerate(keys)),
            "go.",
        ]
        return cls(keys, program, "\n".join(lines) + "\n", seconds, tabling.memory)


def _to_table(facts: FactBase, background: Background) -> Iterator[Key]:
    """The predicates that bodies may use and that only Prolog can evaluate."""
    if facts.bias is None:
        yield from (key for key in background.defines if key[1])
        return
    for key in facts.bias.body:
        is_stated = key in facts.relations and key not in background.defines
        if key[1] and not is_stated:
            yield key


def _facts_for(facts: FactBase, background: Background, bias: Bias) -> Iterator[str]:
    """The facts that clauses of the background may read, which never include the examples."""
    for (name, arity), relation in facts.relations.items():
        if name in background.names and (name, arity) not in bias.head:
            possible = relation.take(~relation.impossible)
            yield from (f"{atom}.\n" for atom in facts.with_relation(possible).atoms(name, arity))


def _types(facts: FactBase, bias: Bias) -> Iterator[str]:
    """The constants of each type, from the relations whose types are declared."""
    of: dict[str, set[int]] = {_ANY: set(range(len(facts.constants)))}
    for key, relation in facts.relations.items():
        for kind, column in zip(bias.types_of(*key) or (), relation.codes.T, strict=False):
            of.setdefault(kind, set()).update(column.tolist())
    for kind, codes in of.items():
        yield f"of({quote(kind)}, {sorted(codes)})."


def _examples(facts: FactBase, bias: Bias) -> Iterator[str]:
    for key in bias.head:
        if key in facts.relations:
            yield from (f"example({row})." for row in facts.relations[key].codes.tolist())


def _steps(facts: FactBase, bias: Bias) -> Iterator[str]:
    """From each input of a plain fact to its other arguments; without directions the first is the input."""
    for key in bias.body:
        relation = facts.relations.get(key)
        if relation is None or key[1] < 2:
            continue
        ways = bias.directions_of(*key) or ("in", *("out",) * (key[1] - 1))
        inputs = [place for place, way in enumerate(ways) if way == "in"]
        for start in inputs:
            for end in range(key[1]):
                if end != start:
                    pairs = np.unique(relation.codes[:, [start, end]], axis=0).tolist()
                    yield from (f"step({one}, {other})." for one, other in pairs if one != other)


def _declaration(number: int, key: Key, bias: Bias) -> str:
    name, arity = key
    types = ", ".join(map(quote, bias.types_of(name, arity) or (_ANY,) * arity))
    ways = bias.directions_of(name, arity)
    directions = "none" if ways is None else f"[{', '.join(map(quote, ways))}]"
    return f"table({number}, {quote(name)}, [{types}], {directions})."


@dataclass
class _Found:
    """The answers of Prolog."""

    terms: list[str] = field(default_factory=list)
    facts: dict[int, list[list[int]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    stopped: str | None = None


def _run(job: _Job) -> _Found:
    """Run the job in a process of its own, within its time."""
    check()
    command = [find_swipl(), "-q", "-f", "none", "-F", "none", "--no-tty", f"--stack-limit={job.memory}"]
    with tempfile.TemporaryDirectory(prefix="andre-prolog-") as folder:
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": folder, "LC_ALL": "C.UTF-8"}
        process = subprocess.Popen(
            [*command, "-g", "main", "-t", "halt(1)", str(_PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment,
            encoding="utf-8",
        )
        _bound_memory(process.pid, 2 * job.memory)
        try:
            output, complaint = process.communicate(job.text, timeout=job.seconds + _GRACE)
        except subprocess.TimeoutExpired as expired:
            check()
            raise DataError(
                f"the background did not stop within {job.seconds:.0f} seconds: see which predicate loops"
            ) from expired
        finally:
            process.kill()
    found = _read(output, job)
    if process.returncode != 0:
        said = shorten(" ".join(complaint.split()), 200)
        raise LogicError(f"SWI-Prolog stopped before the background was tabled: {said}")
    return found


def _bound_memory(pid: int, most: int) -> None:
    """Bound the memory of a process, if the system can."""
    try:
        from resource import RLIMIT_AS, prlimit  # noqa: PLC0415
    except ImportError:  # not every system has it
        return
    try:
        prlimit(pid, RLIMIT_AS, (most, most))
    except ProcessLookupError:  # it has ended already
        return


def _read(output: str, job: _Job) -> _Found:
    found = _Found()
    for answer in output.splitlines():
        kind, _, rest = answer.partition(" ")
        if kind == "t":
            found.terms.append(rest)
        elif kind == "f":
            number, *row = map(int, rest.split())
            found.facts.setdefault(number, []).append(row)
        elif kind == "n":
            name, _, count = rest.partition(" ")
            found.notes.append(_NOTES[name][int(count) > 1].format(f"{int(count):,}"))
        elif kind == "s":
            found.stopped = rest
        elif kind == "e":
            line, _, message = rest.partition(" ")
            lines = job.program.splitlines()
            where = f" ({shorten(lines[int(line) - 1], 60)})" if 0 < int(line) <= len(lines) else ""
            raise LogicError(f"SWI-Prolog cannot run the background{where}: {shorten(message, 300)}")
    return found


def _result(facts: FactBase, job: _Job, found: _Found, tabling: Tabling) -> FactBase:
    constants = (*facts.constants, *map(_value, found.terms))
    made = replace(facts, constants=constants, prolog=None)
    for number, rows in found.facts.items():
        name, arity = job.keys[number]
        relation = Relation(name, np.array(rows, dtype=np.int32).reshape(len(rows), arity))
        known = facts.relations.get((name, arity))
        made = made.with_relation(relation if known is None else Relation.concat([known, relation]))
    count = sum(map(len, found.facts.values()))
    parts = [f"tabled to depth {tabling.depth}: {len(found.terms):,} terms, {count:,} facts"]
    if found.stopped is not None:
        parts.append(f"the limit of {getattr(tabling, found.stopped):,} {found.stopped} was reached")
    return replace(made, notes=replace(made.notes, tabled="; ".join((*parts, *found.notes))))


def _value(text: str) -> Value:
    """The constant with this canonical text."""
    if is_term(text):
        return text
    if text.startswith("'"):
        return unquote(text)
    number = number_or_none(text)
    if number is not None:
        return number
    if re.fullmatch(r"[a-z]\w*", text):
        return text
    # Some numbers are spelled differently by Prolog; these can be read inside a term.
    term = parse_atom(f"t({text})").args[0]
    assert isinstance(term, Constant)
    return term.value
