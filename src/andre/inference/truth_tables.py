"""Truth tables: facts over few constants as dense tensors, and bodies evaluated on them.

A body is a product of tables with its auxiliary variables summed out, one
after another: for two literals that share one variable, a matrix product.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from string import ascii_letters

import numpy as np
import torch
from torch import Tensor

from andre.facts import FactBase, Key
from andre.logic import Atom, Constant, Literal, Rule, Variable, comparison_holds

__all__ = ["Body", "TruthTables"]


#: Stands for all constants in the name of a comparison.
_ANY = Variable("X")


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
    #: Comparisons that were looked at before: all pairs take a while.
    _compared: dict[Atom, Tensor] = field(default_factory=dict, init=False, repr=False)

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
        """Where a literal holds, one dimension per argument; a constant that is compared has one place."""
        atom = literal.atom
        if atom.is_builtin:
            table = self._comparison(atom)
            return 1 - table if literal.negated else table
        found = self.holds.get((atom.predicate, atom.arity))
        if found is None:  # a relation without facts is false everywhere
            return torch.full((self.n,) * atom.arity, float(literal.negated))
        return found[int(literal.negated)]

    def _comparison(self, atom: Atom) -> Tensor:
        key = Atom(atom.predicate, tuple(_ANY if isinstance(arg, Variable) else arg for arg in atom.args))
        if key not in self._compared:
            one, two = ((arg,) if isinstance(arg, Constant) else self.constants for arg in atom.args)
            pairs = [[comparison_holds(Atom(atom.predicate, (x, y))) for y in two] for x in one]
            self._compared[key] = torch.tensor(pairs).float().view(len(one), len(two))
        return self._compared[key]

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
            atom = literal.atom
            args = [
                names[arg] if isinstance(arg, Variable) else 0 if atom.is_builtin else place.get(arg)
                for arg in atom.args
            ]
            where = _Where(
                tuple(args), tuple(isinstance(arg, Variable) for arg in atom.args), literal.negated
            )
            if (atom.predicate, atom.arity) == target:
                open_.append(where)
            else:
                fixed.append(where.factor(self.literal(literal)))
        return Body(rule.head.arity, self.n, tuple(fixed), tuple(open_))


@dataclass(frozen=True)
class _Where:
    """How the arguments of an atom read a table: by a variable, or at a constant."""

    args: tuple[int | None, ...]  #: a variable, or the place of a constant; None: one that no fact has
    variable: tuple[bool, ...]
    negated: bool  #: whether the table says where the atom fails

    def factor(self, table: Tensor, batch: bool = False) -> _Factor:
        """The table over the atom's distinct variables, in order."""
        letters = ascii_letters[1:]
        shift = int(batch)
        for position in reversed(range(len(self.args))):
            if not self.variable[position]:
                code = self.args[position]
                at = table.select(shift + position, code or 0)
                table = at if code is not None else torch.full_like(at, float(self.negated))
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
    open: tuple[_Where, ...]  #: literals of the target

    @property
    def is_recursive(self) -> bool:
        """Whether the target stands in the body."""
        return bool(self.open)

    @property
    def negates_target(self) -> bool:
        """Whether it stands there negated."""
        return any(where.negated for where in self.open)

    def derives(self, true: Tensor | None = None, false: Tensor | None = None) -> Tensor:
        """Where the body holds, [P, N, ...]; [N, ...] where the target is not in it.

        Parameters
        ----------
        true, false
            Where the target holds and where it does not, for P programs, [P, N, ...].
        """
        factors = list(self.fixed)
        for where in self.open:
            table = false if where.negated else true
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
    operands = list(factors)
    if n is not None:  # wanted variables that no literal has are free
        free = [v for v in wanted if not any(v in factor.variables for factor in factors)]
        operands += [_Factor((v,), torch.ones(n)) for v in free]
    while len(operands) > 1:  # two at a time, those first whose product is the smallest
        joins = [_Join.of(operands, pair, wanted) for pair in combinations(range(len(operands)), 2)]
        join = min(joins, key=lambda join: (len(join.kept), join.batch, join.pair))
        one, two = (operands[place] for place in join.pair)
        ahead = "a" if join.batch else ""
        read = ",".join(
            ("a" if f.batch else "") + "".join(letters[v] for v in f.variables) for f in (one, two)
        )
        table = torch.einsum(f"{read}->{ahead}{''.join(letters[v] for v in join.kept)}", one.table, two.table)
        rest = [factor for place, factor in enumerate(operands) if place not in join.pair]
        operands = [*rest, _Factor(join.kept, table.clamp_max(1), join.batch)]
    (last,) = operands
    gone = [int(last.batch) + place for place, v in enumerate(last.variables) if v not in wanted]
    table = last.table.sum(gone) if gone else last.table
    return _Factor(wanted, table.clamp_max(1), last.batch)


@dataclass(frozen=True)
class _Join:
    """Two factors to multiply, and which variables their product must keep."""

    pair: tuple[int, int]
    kept: tuple[int, ...]
    batch: bool

    @classmethod
    def of(cls, operands: Sequence[_Factor], pair: tuple[int, int], wanted: tuple[int, ...]) -> _Join:
        both = {v for place in pair for v in operands[place].variables}
        later = {v for place, f in enumerate(operands) if place not in pair for v in f.variables}
        batch = any(operands[place].batch for place in pair)
        return cls(pair, tuple(sorted(both & (later | set(wanted)))), batch)
