"""The rule space: a head and the candidate atoms of bodies, and bodies as rows of -1, 0 and 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools
from andre.errors import DataError, LogicError
from andre.logic import Atom, Literal, Program, Rule, Variable

#: Bodies as rows over m candidate atoms, [rules, m]: 1 for the atom, -1 for its negation, 0 for neither.
Codes = NDArray[np.int8]


@dataclass(frozen=True)
class RuleSpace:
    """A head and the candidate atoms from which bodies are built.

    Examples
    --------
    >>> space = RuleSpace.from_names(["mother(X1,X2)", "father(X2,X3)"], "grandparent(X1,X3)")
    >>> [str(v) for v in space.head_variables], [str(v) for v in space.auxiliary_variables]
    (['X1', 'X3'], ['X2'])
    >>> space.incidence
    array([[1, 0],
           [0, 1],
           [1, 1]], dtype=int8)
    >>> print(space.program([[1, 1]]))
    grandparent(X1, X3) :- mother(X1, X2), father(X2, X3).
    >>> from andre.logic import Constant
    >>> age = Atom(">", (Constant("age"), Constant(42)))
    >>> print(RuleSpace(Atom("rich"), (Atom("member"), age)).program([[0, 1], [-1, -1]]))
    rich :- age > 42.
    rich :- \\+ member, age =< 42.
    """

    head: Atom
    atoms: tuple[Atom, ...]  #: m candidate body atoms, one per column

    def __post_init__(self) -> None:
        if not self.atoms:
            raise DataError("there is no candidate atom: give at least one column beside the label")
        twice = next((atom for atom, times in Counter(self.atoms).items() if times > 1), None)
        if twice:
            raise DataError(f"the candidate {twice} stands twice: give every column its own name")
        if self.head in self.atoms:
            raise DataError(f"the head {self.head} is among its own candidates: leave that column out")

    @classmethod
    def from_names(cls, names: Iterable[str], head: str = "h") -> RuleSpace:
        """Build a space from column names, plain (`b1`) or atoms (`mother(X1,X2)`)."""
        return cls(Atom.parse(head), tuple(map(Atom.parse, names)))

    @property
    def m(self) -> int:
        """The number of candidate atoms."""
        return len(self.atoms)

    @property
    def names(self) -> tuple[str, ...]:
        """The candidates as text, in column order."""
        return tuple(map(str, self.atoms))

    @property
    def head_variables(self) -> tuple[Variable, ...]:
        """The variables of the head."""
        return self.head.variables

    @property
    def auxiliary_variables(self) -> tuple[Variable, ...]:
        """The variables of the candidates that the head does not have."""
        found = dict.fromkeys(v for atom in self.atoms for v in atom.variables)
        return tuple(v for v in found if v not in self.head_variables)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables, the head's first."""
        return self.head_variables + self.auxiliary_variables

    @cached_property
    def incidence(self) -> NDArray[np.int8]:
        """Whether a variable occurs in an atom, [variables, m], 0 or 1."""
        table = [[int(v in atom.variables) for atom in self.atoms] for v in self.variables]
        return np.array(table, dtype=np.int8).reshape(len(self.variables), self.m)

    @cached_property
    def recursive(self) -> Bools:
        """Which candidates have the head's predicate and arity, [m]: a body with one is recursive."""
        return np.array([atom.key == self.head.key for atom in self.atoms], dtype=np.bool_)

    def safe(self, codes: Codes) -> Bools:
        """Which rules are safe, [rules]: every variable occurs in a positive literal that is no comparison.

        Examples
        --------
        >>> space = RuleSpace.from_names(["p(X,Y)", "q(Y)"], "h(X)")
        >>> space.safe(np.array([[1, 0], [1, -1], [-1, 1]], dtype=np.int8))
        array([ True,  True, False])
        """
        states = np.array([not atom.is_builtin for atom in self.atoms])
        # Sums of int8 would overflow, and products of whole numbers are slow.
        stands = self.incidence.T.astype(np.float32)  # [m, variables]
        binds = ((codes > 0) & states).astype(np.float32) @ stands > 0  # [rules, variables]
        needed = (codes != 0).astype(np.float32) @ stands > 0
        needed[:, : len(self.head_variables)] = True
        return np.asarray((binds | ~needed).all(axis=1))

    def narrowed(self, kept: Bools) -> RuleSpace:
        """The same head with the kept candidates only, [m]."""
        return RuleSpace(self.head, tuple(compress(self.atoms, kept)))

    def rule(self, code: Sequence[int] | Codes) -> Rule:
        """The rule whose body a code stands for."""
        if len(code) != self.m:
            raise LogicError(f"a code of {len(code)} numbers does not fit {self.m} candidate atoms")
        signed = ((Literal(atom), sign) for atom, sign in zip(self.atoms, code, strict=True) if sign)
        return Rule(self.head, tuple(~literal if sign < 0 else literal for literal, sign in signed))

    def program(self, codes: Iterable[Sequence[int]] | Codes) -> Program:
        """The program of the rules that codes stand for."""
        return Program(tuple(self.rule(code) for code in codes))

    def encode(self, program: Program) -> Codes:
        """The codes of a program's bodies, [rules, m]: the inverse of `program`."""
        signs = {Literal(atom): (column, 1) for column, atom in enumerate(self.atoms)}
        signs |= {~literal: (column, -1) for literal, (column, _) in signs.items()}
        codes = np.zeros((len(program), self.m), dtype=np.int8)
        for row, rule in enumerate(program):
            if rule.head != self.head:
                raise LogicError(f"the rule {rule} has another head than {self.head}")
            for literal in rule.body:
                plain = ~Literal(literal.atom) if literal.negated else literal
                if plain not in signs:
                    raise LogicError(f"{literal.atom} in {rule} is none of the {self.m} candidates")
                column, sign = signs[plain]
                if codes[row, column] == -sign:
                    raise LogicError(f"{rule} has both {literal.atom} and its negation, so it never holds")
                codes[row, column] = sign
        return codes
