"""Truth tables in torch: facts over few constants, and bodies evaluated for many programs at once.

A body is read once; the table of the relation that is being defined is given
at each evaluation, one for each of several programs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from andre.facts import FactBase, Key
from andre.inference.coded import CodedAtom, CodedComparison, Coder, number_ranks
from andre.inference.contraction import Contraction, Factor, term_grids
from andre.logic import Rule

__all__ = ["Body", "TruthTables"]


@dataclass(frozen=True, eq=False)
class TruthTables:
    """Which atoms over the N constants of some facts are true and which false, cut at one half.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_rule
    >>> facts = FactBase.from_facts(map(parse_atom, ["edge(a,b)", "edge(b,c)"]))
    >>> tables = TruthTables.of(facts)
    >>> body = tables.body(parse_rule("h(X,Y) :- edge(X,Z), edge(Z,Y)."))
    >>> body.derives().int()
    tensor([[0, 0, 1],
            [0, 0, 0],
            [0, 0, 0]], dtype=torch.int32)
    """

    facts: FactBase
    holds: Mapping[Key, tuple[Tensor, Tensor]]  #: for each relation, where it is true and where false
    #: Comparisons that were looked at before: all pairs take a while.
    _compared: dict[CodedComparison, Tensor] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, facts: FactBase) -> TruthTables:
        """The tables of all relations, whatever the marks of their facts."""
        n = len(facts.constants)
        holds = {}
        for key, relation in facts.relations.items():
            value = np.zeros((n,) * relation.arity, dtype=np.float32)
            known = np.ones(len(relation)) if relation.probability is None else relation.probability
            if relation.negative is not None:
                known = np.where(relation.negative, 0.0, known)
            value[tuple(relation.codes.T)] = known
            holds[key] = torch.as_tensor(value > 0.5).float(), torch.as_tensor(value < 0.5).float()
        return cls(facts, holds)

    @property
    def n(self) -> int:
        """How many constants there are."""
        return len(self.facts.constants)

    @cached_property
    def _coder(self) -> Coder:
        return Coder(self.facts)

    def body(self, rule: Rule, target: Key | None = None) -> Body:
        """A rule's body, ready to be evaluated.

        Parameters
        ----------
        rule
            Its head has distinct variables only; those that are not in the body may be anything.
        target
            The relation whose table is given at each evaluation.
        """
        coded = self._coder.rule(rule)
        fixed, own = [], []
        for atoms, negated in ((coded.positive, False), (coded.negative, True)):
            for atom in atoms:
                if self._coder.keys[atom.relation] == target:
                    own.append((atom, negated))
                else:
                    fixed.append(self._literal(atom, negated))
        fixed += [self._comparison(item) for item in coded.comparisons]
        bound = {v for factor in fixed for v in factor.variables}.union(*(atom.scope for atom, _ in own))
        fixed += [Factor((v,), torch.ones(self.n)) for v in coded.head.variables if v not in bound]
        if not fixed and not own:
            fixed = [Factor((), torch.ones(()))]
        return Body(rule.head.arity, tuple(fixed), tuple(own))

    def _literal(self, atom: CodedAtom, negated: bool) -> Factor:
        found = self.holds.get(self._coder.keys[atom.relation])
        # A relation without facts is false everywhere.
        table = torch.full((self.n,) * len(atom.terms), float(negated)) if found is None else found[negated]
        return Factor.read(table, atom.terms, torch.einsum, absent=float(negated))

    def _comparison(self, item: CodedComparison) -> Factor:
        place = {-1 - variable: -1 - at for at, variable in enumerate(item.scope)}
        # All comparisons that differ in the names of variables only share one table.
        key = replace(item, left=place.get(item.left, item.left), right=place.get(item.right, item.right))
        if key not in self._compared:
            ranks = number_ranks(self._coder.constants) if item.is_order else None
            left, right = term_grids((item.left, item.right), item.scope, self.n)
            self._compared[key] = torch.as_tensor(np.asarray(item.holds(left, right, ranks))).float()
        return Factor(item.scope, self._compared[key])


@dataclass(frozen=True, eq=False)
class Body:
    """A body whose literals are tables, those of the target still open."""

    arity: int  #: the head's variables are the first so many
    fixed: tuple[Factor, ...]
    open: tuple[tuple[CodedAtom, bool], ...]  #: literals of the target, and whether they are negated

    @property
    def is_recursive(self) -> bool:
        """Whether the target stands in the body."""
        return bool(self.open)

    @property
    def negates_target(self) -> bool:
        """Whether it stands there negated."""
        return any(negated for _, negated in self.open)

    @cached_property
    def _contraction(self) -> Contraction:
        scopes = [*(factor.variables for factor in self.fixed), *(atom.variables for atom, _ in self.open)]
        return Contraction.of(scopes, range(self.arity), batched=range(len(self.fixed), len(scopes)))

    def derives(self, true: Tensor | None = None, false: Tensor | None = None) -> Tensor:
        """Where the body holds, [P, N, ...]; [N, ...] where the target is not in it.

        Parameters
        ----------
        true, false
            Where the target holds and where it does not, for P programs, [P, N, ...].
        """
        factors = list(self.fixed)
        for atom, negated in self.open:
            table = false if negated else true
            assert table is not None
            factors.append(Factor.read(table, atom.terms, torch.einsum, absent=float(negated), batch=True))
        found: Tensor = self._contraction.run(factors, torch.einsum, lambda table: table.clamp_max(1))
        return found > 0.5
