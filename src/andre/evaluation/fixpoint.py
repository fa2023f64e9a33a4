"""Recursive programs judged at their fixpoint, many at once: what they derive from the background alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from andre.arrays import Bools, Floats
from andre.facts import Key
from andre.inference import alternating_fixpoint
from andre.inference.truth_tables import Body, TruthTables
from andre.limits import check
from andre.logic import Rule


@dataclass(frozen=True, eq=False)
class Labels:
    """Which atoms of the target are examples, and which of them are true."""

    positive: Bools  #: [N, ...]
    negative: Bools  #: [N, ...]

    @property
    def totals(self) -> Floats:
        """How many examples are true and how many false, [2]."""
        return np.array([self.positive.sum(), self.negative.sum()], dtype=np.float64)

    def without(self, settled: Tensor) -> Labels:
        """The labels of all atoms but those that are settled, [N, ...]."""
        others = ~settled.numpy().astype(np.bool_)
        return Labels(self.positive & others, self.negative & others)

    def counts(self, derived: Tensor) -> Floats:
        """How many true and false examples each of P models holds, [P, 2]."""
        flat = derived.flatten(1).float()  # [P, N * ...]
        labels = torch.as_tensor(np.stack((self.positive.ravel(), self.negative.ravel())))
        return np.asarray((flat @ labels.float().T).double().numpy())


class RuleBase:
    """Rules for one target over truth tables; programs are sets of their numbers.

    Parameters
    ----------
    tables
        What holds of the other relations.
    target
        The relation that the rules define.
    block
        Numbers that the tables of the programs evaluated together may hold.

    Examples
    --------
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_atom, parse_rule
    >>> facts = FactBase.from_facts(map(parse_atom, ["edge(a,b)", "edge(b,c)", "edge(c,d)"]))
    >>> rules = RuleBase(TruthTables.of(facts), ("path", 2))
    >>> base = rules.add(parse_rule("path(X,Y) :- edge(X,Y)."))
    >>> step = rules.add(parse_rule("path(X,Y) :- edge(X,Z), path(Z,Y)."))
    >>> models, total = rules.models([(base,), (base, step)])
    >>> models.sum((1, 2)).tolist(), total.tolist()
    ([3, 6], [True, True])
    """

    def __init__(self, tables: TruthTables, target: Key, *, block: int = 1 << 24) -> None:
        self.tables, self.target, self._block = tables, target, block
        self.rules: list[Rule] = []
        self._bodies: list[Body] = []
        self._known: dict[Rule, int] = {}
        self._derived: dict[int, Tensor] = {}  #: what rules without the target derive, [N, ...]

    def add(self, rule: Rule) -> int:
        """The number of a rule, which is added where it is new."""
        if rule not in self._known:
            self._known[rule] = len(self.rules)
            self.rules.append(rule)
            self._bodies.append(self.tables.body(rule, self.target))
        return self._known[rule]

    def is_recursive(self, rule: int) -> bool:
        """Whether the target stands in a rule's body."""
        return self._bodies[rule].is_recursive

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a table of the target."""
        return (self.tables.n,) * self.target[1]

    @property
    def at_once(self) -> int:
        """How many programs are evaluated together."""
        numbers: int = self.tables.n ** max(3, self.target[1])
        return max(1, self._block // numbers)

    def models(self, programs: Sequence[tuple[int, ...]]) -> tuple[Tensor, Bools]:
        """The well-founded models of programs, [P, N, ...], and whether each leaves nothing undefined.

        Programs are computed together, by the alternating fixpoint where one
        of their rules negates the target.
        """
        found, total = [torch.zeros((0, *self.shape), dtype=torch.bool)], [np.zeros(0, dtype=np.bool_)]
        step = self.at_once
        for at in range(0, len(programs), step):
            model, whole = self._models(programs[at : at + step])
            found.append(model)
            total.append(whole)
        return torch.cat(found), np.concatenate(total)

    def steps(self, program: tuple[int, ...], model: Tensor) -> Tensor:
        """What each rule of a program derives in one step from a model, [rules, N, ...]."""
        true = model[None].float()
        found = [self._derive(rule, true, 1 - true).expand(1, *self.shape) for rule in program]
        return torch.cat([torch.zeros((0, *self.shape), dtype=torch.bool), *found])

    def _models(self, programs: Sequence[tuple[int, ...]]) -> tuple[Tensor, Bools]:
        model, total = self._least(programs, None), np.ones(len(programs), dtype=np.bool_)
        chosen = [
            place
            for place, program in enumerate(programs)
            if any(self._bodies[rule].negates_target for rule in program)
        ]
        if chosen:
            some = [programs[place] for place in chosen]
            nothing = torch.zeros((len(some), *self.shape), dtype=torch.bool)
            lower, upper = alternating_fixpoint(
                lambda true: self._least(some, ~(nothing if true is None else true)), torch.equal
            )
            model[torch.as_tensor(chosen)] = lower
            total[chosen] = (lower == upper).flatten(1).all(1).numpy()
        return model, total

    def _least(self, programs: Sequence[tuple[int, ...]], false: Tensor | None) -> Tensor:
        """Least models where negations of the target are read from `false`, [P, N, ...]; None: all fail."""
        model = torch.zeros((len(programs), *self.shape), dtype=torch.bool)
        users: dict[int, list[int]] = {}
        for place, program in enumerate(programs):
            for rule in program:
                users.setdefault(rule, []).append(place)
        again: dict[int, Tensor] = {}
        for rule, places in users.items():
            index = torch.as_tensor(places)
            if self._bodies[rule].is_recursive:
                again[rule] = index
            else:
                model[index] |= self._derive(rule, None, None)
        moving = torch.ones(len(programs), dtype=torch.bool)
        while bool(moving.any()) and again:
            before = model.clone()
            for rule, whose in again.items():
                index = whose[moving[whose]]
                if len(index):
                    denied = torch.zeros_like(model[index]) if false is None else false[index]
                    model[index] |= self._derive(rule, model[index].float(), denied.float())
            moving = (model != before).flatten(1).any(1)
        return model

    def _derive(self, rule: int, true: Tensor | None, false: Tensor | None) -> Tensor:
        check()
        body = self._bodies[rule]
        if body.is_recursive:
            return body.derives(true, false)
        if rule not in self._derived:
            self._derived[rule] = body.derives()
        return self._derived[rule]
