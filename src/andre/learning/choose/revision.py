"""Definitions over uncertain facts: a program is chosen together with what the background most likely is.

A fact of probability p holds, or does not, and to take it for what is less
likely costs the logarithm of its odds. The description of the labels is then
that of a program over a revised background, and the cost of revising it. One
doubtful fact may stand between hundreds of atoms and their derivation, so no
choice fact by fact finds the background that a program speaks for. Here the two
are found in turn: programs for a background, then a background for each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from andre.arrays import Bools, Floats, Ints
from andre.evaluation import Labels, RuleBase, TableJudge, description_length
from andre.facts import FactBase, Key, Relation
from andre.inference import TruthTables
from andre.learning.choose.definition import DefinitionChooser
from andre.learning.config import SelectionConfig
from andre.limits import stage, unhurried
from andre.logic import Atom, Constant, Program
from andre.samples import Codes, Form

#: What is said of work that the time limit cuts short.
_STAGE = "revising uncertain facts"
#: Facts that are doubted in one sweep at the most, those first that cost least to revise.
_DOUBTED = 768
#: Multiplications that one sweep may take: over many constants fewer facts are doubted.
_WORK = 2e10
#: Truth values that the states of one sweep may hold.
_CELLS = 1 << 28
#: How often a rule is applied until a fixpoint is reached, roughly.
_ROUNDS = 6
#: Programs of a background that it is revised for: of the first backgrounds, and of later ones.
_TRIED, _TRIED_LATER = 10, 3
#: Programs that are kept while looking for them: what pays once facts are revised need not pay before.
_BEAM = 24
#: How often programs are looked for.
_SEARCHES = 8
#: The log-odds of the facts that hold in the stricter of the first two backgrounds.
_STRICT = 2.0


@dataclass(frozen=True)
class Revised:
    """A background fact that a program takes for what is less likely; one at 0.5 is never one."""

    atom: Atom
    probability: float  #: that it holds, as it was stated
    holds: bool  #: whether the program takes it to hold
    calibrated: float  #: the probability that the stated one stands for, by which a revision costs

    def __str__(self) -> str:
        stated, read = f"{self.probability:.2f}", f"{self.calibrated:.2f}"
        chance = stated if stated == read else f"{stated}, which calibration reads as {read}"
        return f"{self.atom} ({chance}; taken to be {'true' if self.holds else 'false'})"


@dataclass(frozen=True, eq=False)
class Beliefs:
    """The uncertain facts of a background, and the log-odds that each holds."""

    facts: FactBase  #: the background
    odds: Mapping[Key, Floats]  #: by relation, [N, ...]; infinite where an atom is certain
    stated: FactBase  #: the background with the probabilities that were stated

    @classmethod
    def of(cls, facts: FactBase, stated: FactBase | None = None) -> Beliefs | None:
        """The beliefs that the probabilities of facts give; None where all facts are certain.

        In an open world, where an atom may be unknown too, facts are not revised either.

        Parameters
        ----------
        facts
            The background with the probabilities to believe, calibrated or as they were stated.
        stated
            The same facts as they were stated, where that is not so.
        """
        if not is_revisable(facts):
            return None
        odds = {
            key: _log_odds(relation, len(facts.constants))
            for key, relation in facts.relations.items()
            if relation.probability is not None
        }
        odds = {key: table for key, table in odds.items() if np.isfinite(table).any()}
        return cls(facts, odds, stated or facts)

    @cached_property
    def flat(self) -> Floats:
        """The log-odds of all atoms one after another, [A]."""
        return np.concatenate([table.ravel() for table in self.odds.values()])

    @property
    def likely(self) -> Bools:
        """The likeliest state of all atoms, [A]."""
        return np.asarray(self.flat > 0)

    @property
    def starts(self) -> tuple[Bools, Bools]:
        """The likeliest state, and one that fewer facts hold in, [A] each.

        Where a few false facts connect what is apart, the second is the better place to revise from.
        """
        return self.likely, np.asarray(self.flat > _STRICT)

    def cost(self, states: Bools) -> Floats:
        """What it costs to take the atoms to be so, [..., A], in nats, [...]."""
        weight = np.where(np.isfinite(self.flat), np.abs(self.flat), 0.0)
        return np.asarray((states != self.likely) @ weight)

    def tables(self, states: Bools) -> dict[Key, Bools]:
        """The truth tables of the relations in P states, [P, A]: [P, N, ...] each."""
        made, at = {}, 0
        for key, table in self.odds.items():
            part = states[:, at : at + table.size]
            made[key], at = part.reshape(len(states), *table.shape), at + table.size
        return made

    def background(self, state: Bools) -> FactBase:
        """The background in one state, [A], with certain facts only."""
        certain = {
            key: Relation(key[0], np.argwhere(table[0]).astype(np.int32))
            for key, table in self.tables(state[None]).items()
        }
        return replace(self.facts, relations={**self.facts.relations, **certain})

    def revised(self, state: Bools) -> tuple[Revised, ...]:
        """The facts that a state takes for what is less likely, the most doubtful first."""
        found = []
        for (key, odds), (_, table) in zip(self.odds.items(), self.tables(state[None]).items(), strict=True):
            stated = self.stated.relations[key]
            chances = dict(zip(map(tuple, stated.codes.tolist()), stated.column("probability"), strict=True))
            for place in map(tuple, np.argwhere((table[0] != (odds > 0)) & (odds != 0)).tolist()):
                atom = Atom(key[0], tuple(Constant(self.facts.constants[code]) for code in place))
                log_odds = float(odds[place])
                likely = 1 / (1 + math.exp(-log_odds))
                item = Revised(atom, float(chances[place]), holds=log_odds <= 0, calibrated=likely)
                found.append((abs(log_odds), item))
        return tuple(item for _, item in sorted(found, key=lambda pair: (pair[0], str(pair[1].atom))))


def is_revisable(facts: FactBase) -> bool:
    """Whether some facts of a background are uncertain, in a closed world."""
    chances = (
        np.where(relation.column("negative"), 0.0, relation.column("probability"))
        for relation in facts.relations.values()
        if relation.probability is not None
    )
    return facts.world == "closed" and any(((p > 0) & (p < 1)).any() for p in chances)


def _log_odds(relation: Relation, n: int) -> Floats:
    """The log-odds of every atom of a relation over n constants, [N, ...]; what is not stated is false."""
    table = np.full((n,) * relation.arity, -math.inf)
    p = np.where(relation.column("negative"), 0.0, relation.column("probability"))
    with np.errstate(divide="ignore"):
        table[tuple(relation.codes.T)] = np.log(p) - np.log1p(-p)
    return table


@dataclass(frozen=True, eq=False)
class Reviser:
    """Finds the background that goes best with a program.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_program
    >>> atoms = [f"edge({n}, {n + 1})" for n in range(8)]
    >>> chances = [0.9, 0.9, 0.9, 0.4, 0.9, 0.9, 0.9, 0.9]
    >>> beliefs = Beliefs.of(FactBase.from_facts(map(parse_atom, atoms), probabilities=chances))
    >>> later = np.triu(np.ones((9, 9)), 1)
    >>> reviser = Reviser(beliefs, ("path", 2), Labels(later, 1 - later), m=6)
    >>> paths = parse_program("path(X, Y) :- edge(X, Y). path(X, Y) :- edge(X, Z), path(Z, Y).")
    >>> state, length = reviser.revise(paths, beliefs.likely)
    >>> print(*beliefs.revised(state))
    edge(3, 4) (0.40; taken to be true)
    """

    beliefs: Beliefs
    target: Key
    labels: Labels
    m: int  #: the number of candidate atoms
    known: Program = field(default=Program())  #: rules that every program has

    def revise(self, program: Program, state: Bools) -> tuple[Bools, float]:
        """The best background that single revisions lead to from a state, [A], and the length with it.

        All single revisions are judged together. Those that shorten the description are then made
        together, as many as shorten it most.
        """
        doubted, weight, likely = self._doubtful(program), np.abs(self.beliefs.flat), self.beliefs.likely
        start = likely.copy()  # what the program does not read is left as it is likely
        start[doubted] = state[doubted]
        state, length = start, float(self.lengths(program, start[None])[0])
        with stage(_STAGE):
            while True:
                cost = np.where(state == likely, weight, -weight)[doubted]
                atoms = doubted[np.argsort(cost, kind="stable")[: self._affordable(program)]]
                lengths = self.lengths(program, _flipped(state, atoms[:, None]))
                order = np.argsort(lengths, kind="stable")
                better = atoms[order[lengths[order] < length - 1e-9]]
                if not len(better):
                    break
                sizes = sorted({min(2**power, len(better)) for power in range(11)})
                states = np.concatenate([_flipped(state, better[None, :size]) for size in sizes])
                lengths = self.lengths(program, states)
                shortest = int(lengths.argmin())
                state, length = states[shortest], float(lengths[shortest])
        return state, length

    def lengths(self, program: Program, states: Bools) -> Floats:
        """What a program and P states of the background cost, [P, A], in nats, [P].

        That is the description of the labels by the program over the background in that state, and
        the cost of the state.
        """
        numbers = tuple(map(self._rules.add, (*self.known, *program)))
        models, total = self._rules.models([numbers] * len(states), self.beliefs.tables(states))
        lengths = description_length(
            self.labels.counts(models), self.labels.totals, program.n_literals, len(program), m=self.m
        )
        return np.where(total, lengths + self.beliefs.cost(states), math.inf)

    @cached_property
    def _rules(self) -> RuleBase:
        """Rules over tables of the uncertain relations that are given with each evaluation."""
        return RuleBase(TruthTables.of(self.beliefs.facts), self.target, tuple(self.beliefs.odds))

    def _doubtful(self, program: Program) -> Ints:
        """The uncertain atoms of the relations that a program reads, as places in `Beliefs.flat`."""
        read = {literal.atom.key for rule in (*self.known, *program) for literal in rule.body}
        sizes = [table.size for table in self.beliefs.odds.values()]
        is_read = np.repeat([key in read for key in self.beliefs.odds], sizes)
        return np.flatnonzero(np.isfinite(self.beliefs.flat) & is_read)

    def _affordable(self, program: Program) -> int:
        """How many facts are doubted in one sweep."""
        one = _ROUNDS * max(1, len(program) + len(self.known)) * len(self.beliefs.facts.constants) ** 3
        return int(min(_DOUBTED, max(8, _WORK / one), max(1, _CELLS // len(self.beliefs.flat))))


def choose_revised(reviser: Reviser, pool: Codes, form: Form, config: SelectionConfig) -> tuple[Codes, Bools]:
    """The program and the background that describe labels and beliefs shortest together.

    Parameters
    ----------
    pool
        Well-formed bodies to choose from, the most promising first, [rules, m].
    form
        What bodies must look like.

    Returns
    -------
    tuple
        The program, [rules, m], and the state of the background that goes with it, [A].
    """
    codes, state = np.zeros((0, form.space.m), dtype=np.int8), reviser.beliefs.likely
    with unhurried():
        shortest = float(reviser.lengths(Program(), state[None])[0])
    states, tried = list(reviser.beliefs.starts), set[bytes]()
    with stage(_STAGE):
        for search in range(_SEARCHES):
            if not states:
                break
            start, improved = states.pop(0), False
            found = _programs_over(start, reviser, pool, form, config)
            for bodies in found[: _TRIED if search < 2 else _TRIED_LATER]:
                key = bodies.tobytes() + start.tobytes()
                if key in tried:
                    continue
                tried.add(key)
                revised, length = reviser.revise(form.space.program(bodies), start)
                if length < shortest - 1e-9:
                    codes, state, shortest, improved = bodies, revised, length, True
            if improved:
                states.append(state)
    return codes, state


def _programs_over(
    state: Bools, reviser: Reviser, pool: Codes, form: Form, config: SelectionConfig
) -> list[Codes]:
    """The best programs over one state of the background."""
    rules = RuleBase(TruthTables.of(reviser.beliefs.background(state)), reviser.target)
    fixed = tuple(map(rules.add, reviser.known))
    wider = config.model_copy(update={"beam": max(_BEAM, config.beam)})
    chooser = DefinitionChooser(TableJudge(rules, reviser.labels), form, wider, fixed)
    return chooser.shortlist(pool, _TRIED)


def _flipped(state: Bools, atoms: Ints) -> Bools:
    """A state, [A], with some atoms turned over, [P, A]; each line of `atoms`, [P, k], makes one."""
    states = np.repeat(state[None], len(atoms), axis=0)
    states[np.arange(len(atoms))[:, None], atoms] ^= True
    return states
