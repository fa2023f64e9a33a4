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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from andre.arrays import Bools, Floats
from andre.evaluation import description_length
from andre.evaluation.fixpoint import Labels, RuleBase
from andre.facts import FactBase, Key, Relation
from andre.inference.truth_tables import TruthTables
from andre.learning.choose.definition import DefinitionChooser
from andre.learning.config import SelectionConfig
from andre.limits import Deadline
from andre.logic import Atom, Constant, Program
from andre.samples import Codes, Form

#: Facts that are doubted in one sweep at the most, those first that cost least to revise.
_DOUBTED = 768
#: Multiplications that one sweep may take: over many constants fewer facts are doubted.
_WORK = 2e10
#: How often a rule is applied until a fixpoint is reached, roughly.
_ROUNDS = 6
#: Programs of a background that it is revised for: of the first backgrounds, and of later ones.
_TRIED, _TRIED_LATER = 5, 3
#: How often programs are looked for.
_SEARCHES = 8
#: The log-odds of the facts that hold in the stricter of the first two backgrounds.
_STRICT = 2.0


@dataclass(frozen=True)
class Revised:
    """A background fact that a program takes for what is less likely."""

    atom: Atom
    probability: float  #: that it holds, as far as is known without the program
    holds: bool  #: whether the program takes it to hold

    def __str__(self) -> str:
        return f"{self.atom} ({self.probability:.2f}, taken to be {'true' if self.holds else 'false'})"


@dataclass(frozen=True, eq=False)
class Beliefs:
    """The uncertain facts of a background, and the log-odds that each holds."""

    facts: FactBase  #: the background
    odds: Mapping[Key, Floats]  #: by relation, [N, ...]; infinite where an atom is certain

    @classmethod
    def of(cls, facts: FactBase) -> Beliefs | None:
        """The beliefs that the probabilities of facts state; None where all facts are certain."""
        odds = {
            key: _log_odds(relation, len(facts.constants))
            for key, relation in facts.relations.items()
            if relation.probability is not None
        }
        odds = {key: table for key, table in odds.items() if np.isfinite(table).any()}
        return cls(facts, odds) if odds else None

    @cached_property
    def flat(self) -> Floats:
        """The log-odds of all atoms one after another, [A]."""
        return np.concatenate([table.ravel() for table in self.odds.values()])

    def cost(self, states: Bools) -> Floats:
        """What it costs to take the atoms to be so, [..., A], in nats, [...]."""
        weight = np.where(np.isfinite(self.flat), np.abs(self.flat), 0.0)
        return np.asarray((states != (self.flat > 0)) @ weight)

    def tables(self, states: Bools) -> dict[Key, Tensor]:
        """The truth tables of the relations in P states, [P, A]: [P, N, ...] each."""
        made, at = {}, 0
        for key, table in self.odds.items():
            part = torch.as_tensor(states[:, at : at + table.size])
            made[key], at = part.reshape(len(states), *table.shape), at + table.size
        return made

    def background(self, state: Bools) -> FactBase:
        """The background in one state, [A], with certain facts only."""
        certain = {
            key: Relation(key[0], np.argwhere(table[0].numpy()).astype(np.int32))
            for key, table in self.tables(state[None]).items()
        }
        return replace(self.facts, relations={**self.facts.relations, **certain})

    def revised(self, state: Bools) -> tuple[Revised, ...]:
        """The facts that a state takes for what is less likely, the most doubtful first."""
        found = []
        for (key, odds), (_, table) in zip(
            self.odds.items(), self.tables(state[None]).items(), strict=True
        ):
            for place in np.argwhere(table[0].numpy() != (odds > 0)):
                atom = Atom(key[0], tuple(Constant(self.facts.constants[code]) for code in place.tolist()))
                log_odds = float(odds[tuple(place)])
                found.append((abs(log_odds), Revised(atom, 1 / (1 + math.exp(-log_odds)), log_odds <= 0)))
        return tuple(item for _, item in sorted(found, key=lambda pair: (pair[0], str(pair[1].atom))))


def _log_odds(relation: Relation, n: int) -> Floats:
    """The log-odds of every atom of a relation over n constants, [N, ...]; what is not stated is false."""
    table = np.full((n,) * relation.arity, -math.inf)
    p = np.where(relation.column("negative"), 0.0, relation.column("probability"))
    with np.errstate(divide="ignore"):
        table[tuple(relation.codes.T)] = np.log(p) - np.log1p(-p)
    return table


@dataclass(frozen=True, eq=False)
class RevisedChoice:
    """A program, and the state of the background that it goes with."""

    codes: Codes  #: [rules, m]
    state: Bools  #: [A]
    length: float  #: description length of the labels and cost of the revision, nats


@dataclass(frozen=True, eq=False)
class RevisingChooser:
    """Chooses the program and the background that describe labels and beliefs shortest together."""

    beliefs: Beliefs
    target: Key
    labels: Labels
    form: Form  #: what bodies must look like, over the rule space of the pool
    config: SelectionConfig
    deadline: Deadline | None = None
    known: Program = Program()  #: rules that every program has

    def choose(self, pool: Codes) -> RevisedChoice:
        """The best program and background found.

        Parameters
        ----------
        pool
            Well-formed bodies to choose from, the most promising first, [rules, m].
        """
        likely = self.beliefs.flat > 0
        best = self._judge(np.zeros((0, self.form.space.m), dtype=np.int8), likely)
        # Where a few false facts connect what is apart, the better start has fewer facts.
        states, tried = [likely, self.beliefs.flat > _STRICT], set[bytes]()
        for search in range(_SEARCHES):
            if not states or self._late:
                break
            state, improved = states.pop(0), False
            for codes in self._programs(state, pool, _TRIED if search < 2 else _TRIED_LATER):
                key = codes.tobytes() + state.tobytes()
                if key in tried or self._late:
                    continue
                tried.add(key)
                found = self._revise(codes, state)
                if found.length < best.length - 1e-9:
                    best, improved = found, True
            if improved:
                states.append(best.state)
        return best

    @property
    def _late(self) -> bool:
        return self.deadline is not None and self.deadline.passed

    def _programs(self, state: Bools, pool: Codes, most: int) -> list[Codes]:
        """The best programs over one state of the background."""
        rules = RuleBase(TruthTables.of(self.beliefs.background(state)), self.target)
        fixed = tuple(map(rules.add, self.known))
        chooser = DefinitionChooser(rules, self.labels, self.form, self.config, self.deadline, fixed)
        return [codes for _, codes in chooser.shortlist(pool, most)]

    def _revise(self, codes: Codes, state: Bools) -> RevisedChoice:
        """The background that goes best with a program, by single revisions from a state.

        All single revisions are judged together. Those that shorten the description are then made
        one after another, as far as that goes on shortening it.
        """
        best, doubted = self._judge(codes, state), self._doubtful(codes)
        weight, likely = np.abs(self.beliefs.flat), self.beliefs.flat > 0
        while not self._late:
            cost = np.where(best.state == likely, weight, -weight)[doubted]
            atoms = doubted[np.argsort(cost, kind="stable")[: self._affordable(len(codes))]]
            lengths = self._lengths(codes, _flipped(best.state, atoms[:, None]))
            order = np.argsort(lengths, kind="stable")
            better = atoms[order[lengths[order] < best.length - 1e-9]]
            if not len(better):
                break
            sizes = sorted({min(2**power, len(better)) for power in range(11)})
            states = np.concatenate([_flipped(best.state, better[None, :size]) for size in sizes])
            lengths = self._lengths(codes, states)
            shortest = int(lengths.argmin())
            best = RevisedChoice(codes, states[shortest], float(lengths[shortest]))
        return best

    def _doubtful(self, codes: Codes) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        """The uncertain atoms of the relations that a program reads, as places in `Beliefs.flat`."""
        rules = (*self.known, *self.form.space.program(codes))
        read = {literal.atom.key for rule in rules for literal in rule.body}
        sizes = [table.size for table in self.beliefs.odds.values()]
        is_read = np.repeat([key in read for key in self.beliefs.odds], sizes)
        return np.flatnonzero(np.isfinite(self.beliefs.flat) & is_read)

    def _affordable(self, n_rules: int) -> int:
        """How many facts are doubted in one sweep."""
        one = _ROUNDS * max(1, n_rules + len(self.known)) * len(self.beliefs.facts.constants) ** 3
        return int(min(_DOUBTED, max(8, _WORK / one)))

    @cached_property
    def _rules(self) -> RuleBase:
        """Rules over tables of the uncertain relations that are given with each evaluation."""
        return RuleBase(TruthTables.of(self.beliefs.facts), self.target, tuple(self.beliefs.odds))

    def _judge(self, codes: Codes, state: Bools) -> RevisedChoice:
        return RevisedChoice(codes, state, float(self._lengths(codes, state[None])[0]))

    def _lengths(self, codes: Codes, states: Bools) -> Floats:
        """The description length of a program in P states, [P, A], and what they cost, [P]."""
        space = self.form.space
        program = tuple(map(self._rules.add, (*self.known, *space.program(codes))))
        models, total = self._rules.models([program] * len(states), self.beliefs.tables(states))
        lengths = description_length(
            self.labels.counts(models), self.labels.totals, np.count_nonzero(codes), len(codes), m=space.m
        )
        return np.where(total, lengths + self.beliefs.cost(states), math.inf)


def _flipped(state: Bools, atoms: Sequence[int] | np.ndarray[tuple[int, int], np.dtype[np.intp]]) -> Bools:
    """A state with some atoms turned over, [P, A]; each line of `atoms`, [P, k], makes one."""
    places = np.asarray(atoms)
    states = np.repeat(state[None], len(places), axis=0)
    states[np.arange(len(places))[:, None], places] ^= True
    return states
