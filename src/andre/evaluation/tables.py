"""Truth tables: facts over few constants as dense tensors, and bodies evaluated on them.

A body is a product of tables with its auxiliary variables summed out, one
after another: for two literals that share one variable, a matrix product.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_letters

import numpy as np
import torch
from torch import Tensor

from andre.facts import FactBase
from andre.facts.base import Key
from andre.logic import Atom, Constant, Literal, Rule, Variable
from andre.logic.comparison import comparison_holds

__all__ = ["Body", "TruthTables"]


@dataclass(frozen=True, eq=False)
class _Factor:
    """A table over some variables; with `batch`, one for each of several programs."""

    variables: tuple[int, ...]  #: in order, one per dimension after the batch
    table: Tensor  #: 0 and 1
    batch: bool = False


@dataclass(frozen=True, eq=False)
class TruthTables:
    """What holds of N constants, cut at one half.

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

    constants: tuple[Constant, ...]  #: N
    holds: Mapping[Key, tuple[Tensor, Tensor]]  #: for each relation, where it is true and where false

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
        return cls(tuple(map(Constant, facts.constants)), holds)

    @property
    def n(self) -> int:
        """How many constants there are."""
        return len(self.constants)

    def literal(self, literal: Literal) -> Tensor:
        """Where a literal holds, one dimension per argument."""
        atom = literal.atom
        if atom.is_builtin:
            table = torch.as_tensor(self._compared(atom.predicate)).float()
            return 1 - table if literal.negated else table
        found = self.holds.get((atom.predicate, atom.arity))
        if found is None:  # a relation without facts is false everywhere
            return torch.full((self.n,) * atom.arity, float(literal.negated))
        return found[int(literal.negated)]

    def _compared(self, predicate: str) -> np.ndarray:
        if predicate in ("=", "\\="):
            same = np.eye(self.n, dtype=np.bool_)
            return same if predicate == "=" else ~same
        pairs = [
            [comparison_holds(Atom(predicate, (one, two))) for two in self.constants]
            for one in self.constants
        ]
        return np.array(pairs, dtype=np.bool_)

    def body(self, rule: Rule, target: Key | None = None) -> Body:
        """A rule's body, ready to be evaluated.

        Parameters
        ----------
        rule
            Its head has distinct variables only.
        target
            The relation whose table is given at each evaluation.
        """
        names = {variable: place for place, variable in enumerate(rule.variables)}
        place = {constant: code for code, constant in enumerate(self.constants)}
        fixed, open_ = [], []
        for literal in rule.body:
            args = [names[arg] if isinstance(arg, Variable) else place.get(arg) for arg in literal.atom.args]
            where = _Where(tuple(args), tuple(isinstance(arg, Variable) for arg in literal.atom.args))
            if (literal.atom.predicate, literal.atom.arity) == target:
                open_.append((where, literal.negated))
            else:
                fixed.append(where.factor(self.literal(literal)))
        return Body(rule.head.arity, self.n, tuple(fixed), tuple(open_))


@dataclass(frozen=True)
class _Where:
    """How the arguments of an atom read a table: by a variable, or at a constant."""

    args: tuple[int | None, ...]  #: a variable, or the place of a constant; None: one that no fact has
    variable: tuple[bool, ...]

    def factor(self, table: Tensor, batch: bool = False) -> _Factor:
        """The table over the atom's distinct variables, in order."""
        letters = ascii_letters[1:]
        shift = int(batch)
        for position in reversed(range(len(self.args))):
            if not self.variable[position]:
                code = self.args[position]
                at = table.select(shift + position, code) if code is not None else None
                table = torch.zeros_like(table.select(shift + position, 0)) if at is None else at
        kept = [arg for arg, is_variable in zip(self.args, self.variable, strict=True) if is_variable]
        variables = tuple(sorted({arg for arg in kept if arg is not None}))
        ahead = "a" if batch else ""
        read = ahead + "".join(letters[arg] for arg in kept if arg is not None)
        wanted = ahead + "".join(letters[variable] for variable in variables)
        return _Factor(variables, torch.einsum(f"{read}->{wanted}", table), batch)


@dataclass(frozen=True, eq=False)
class Body:
    """A body whose literals are tables, those of the target still open."""

    arity: int  #: the head's variables are the first so many
    n: int  #: constants
    fixed: tuple[_Factor, ...]
    open: tuple[tuple[_Where, bool], ...]  #: literals of the target, and whether they are negated

    @property
    def is_recursive(self) -> bool:
        """Whether the target stands in the body."""
        return bool(self.open)

    @property
    def negates_target(self) -> bool:
        """Whether it stands there negated."""
        return any(negated for _, negated in self.open)

    def derives(self, true: Tensor | None = None, false: Tensor | None = None) -> Tensor:
        """Where the body holds, [P, N, ...]; [N, ...] where the target is not in it.

        Parameters
        ----------
        true, false
            Where the target holds and where it does not, for P programs, [P, N, ...].
        """
        factors = list(self.fixed)
        for where, negated in self.open:
            table = false if negated else true
            assert table is not None
            factors.append(where.factor(table, batch=True))
        auxiliary = {v for factor in factors for v in factor.variables if v >= self.arity}
        while auxiliary:
            # Sum out the variable that leaves the smallest table.
            chosen = min(auxiliary, key=lambda v: (len(_scope(factors, v)), v))
            auxiliary.remove(chosen)
            touching = [factor for factor in factors if chosen in factor.variables]
            factors = [factor for factor in factors if chosen not in factor.variables]
            factors.append(_product(touching, tuple(sorted(_scope(touching, chosen) - {chosen}))))
        return _product(factors, tuple(range(self.arity)), self.n).table > 0.5


def _scope(factors: Sequence[_Factor], variable: int) -> set[int]:
    return {v for factor in factors if variable in factor.variables for v in factor.variables}


def _product(factors: Sequence[_Factor], wanted: tuple[int, ...], n: int | None = None) -> _Factor:
    """The product of tables with all but the wanted variables summed out, cut to 0 and 1."""
    letters = ascii_letters[1:]
    batch = any(factor.batch for factor in factors)
    operands = sorted(factors, key=lambda factor: (factor.batch, factor.table.ndim))
    if n is not None:  # wanted variables that no literal has are free
        free = [v for v in wanted if not any(v in factor.variables for factor in factors)]
        operands += [_Factor((v,), torch.ones(n)) for v in free]
    while len(operands) > 1:  # two at a time, the small ones first, so that no table grows needlessly
        one, two, *rest = operands
        later = {v for factor in rest for v in factor.variables} | set(wanted)
        kept = tuple(sorted((set(one.variables) | set(two.variables)) & later))
        ahead = "a" if one.batch or two.batch else ""
        read = ",".join(
            ("a" if f.batch else "") + "".join(letters[v] for v in f.variables) for f in (one, two)
        )
        table = torch.einsum(f"{read}->{ahead}{''.join(letters[v] for v in kept)}", one.table, two.table)
        merged = _Factor(kept, table.clamp_max(1), one.batch or two.batch)
        operands = [merged, *rest]
    (last,) = operands
    gone = [int(last.batch) + place for place, v in enumerate(last.variables) if v not in wanted]
    table = last.table.sum(gone) if gone else last.table
    return _Factor(wanted, table.clamp_max(1), batch)
