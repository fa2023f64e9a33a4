"""Programs over codes: what the engines run.

Constants are positions in one dictionary and relations are numbered, so that
an engine sees integers only. A term is an integer: a code where it is zero or
more, and the variable number `-1 - term` where it is less.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from andre.facts import FactBase, Key, Relation, Value
from andre.logic import Atom, Constant, Literal, Rule, Term, Variable, check_safe

__all__ = [
    "CodedAtom",
    "CodedComparison",
    "CodedProgram",
    "CodedRule",
    "Rows",
    "is_variable",
    "variable_number",
]


def is_variable(term: int) -> bool:
    """Whether a term of a coded atom is a variable."""
    return term < 0


def variable_number(term: int) -> int:
    """The number of a variable."""
    return -1 - term


@dataclass(frozen=True, slots=True)
class CodedAtom:
    """A relation's number applied to terms."""

    relation: int
    terms: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CodedComparison:
    """A comparison of two terms, or its negation."""

    sign: str
    left: int
    right: int
    negated: bool


@dataclass(frozen=True, slots=True)
class CodedRule:
    """A rule with its literals sorted by kind."""

    head: CodedAtom
    positive: tuple[CodedAtom, ...]
    negative: tuple[CodedAtom, ...]
    comparisons: tuple[CodedComparison, ...]
    probability: float


@dataclass(frozen=True, eq=False)
class Rows:
    """Facts of one relation: codes, and a value per fact where some are uncertain."""

    codes: NDArray[np.int32]  #: [N, arity]
    values: NDArray[np.float64] | None = None  #: [N]; None: all 1

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True, eq=False)
class CodedProgram:
    """A program and the facts it reads, over one dictionary.

    Examples
    --------
    >>> from andre.logic import parse_program
    >>> a, b = Constant("a"), Constant("b")
    >>> facts = FactBase.from_facts([Atom("p", (a, b))])
    >>> coded = CodedProgram.of(parse_program("h(X) :- p(X, Y), \\\\+ q(Y), Y \\\\= c."), facts)
    >>> coded.keys, coded.constants
    ((('h', 1), ('p', 2), ('q', 1)), ('a', 'b', 'c'))
    >>> coded.rules[0].comparisons
    (CodedComparison(sign='\\\\=', left=-2, right=2, negated=False),)
    """

    rules: tuple[CodedRule, ...]
    keys: tuple[Key, ...]  #: relation number -> name and arity
    constants: tuple[Value, ...]
    facts: Mapping[int, Rows]  #: the stated facts of the relations that the program mentions

    @classmethod
    def of(cls, rules: Iterable[Rule], facts: FactBase) -> CodedProgram:
        """Code the rules over the dictionary of the facts, lengthened by the constants of the rules."""
        coder = _Coder(facts, {}, {})
        coded = tuple(coder.rule(rule) for rule in rules)
        stated = {
            number: _rows(facts.relations[key])
            for key, number in coder.relations.items()
            if key in facts.relations
        }
        constants = facts.constants + tuple(constant.value for constant in coder.new)
        return cls(coded, tuple(coder.relations), constants, stated)

    @property
    def heads(self) -> frozenset[int]:
        """The relations that rules define."""
        return frozenset(rule.head.relation for rule in self.rules)

    @property
    def is_crisp(self) -> bool:
        """Whether every fact and rule is certain."""
        return all(rows.values is None for rows in self.facts.values()) and all(
            rule.probability == 1 for rule in self.rules
        )

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """The place of each constant in the order of numbers, and -1 for names."""
        numbers = [(value, code) for code, value in enumerate(self.constants) if not isinstance(value, str)]
        ranks = np.full(len(self.constants), -1, dtype=np.int64)
        rank, before = -1, None
        # Python compares integers and floats exactly, which no array type does.
        for value, code in sorted(numbers):
            rank += value != before
            ranks[code], before = rank, value
        return ranks

    @property
    def orders(self) -> bool:
        """Whether some rule compares by size."""
        return any(item.sign not in ("=", "\\=") for rule in self.rules for item in rule.comparisons)

    def atom(self, relation: int, codes: Sequence[int]) -> Atom:
        """The atom behind a row of codes."""
        return Atom(self.keys[relation][0], tuple(Constant(self.constants[code]) for code in codes))


@dataclass
class _Coder:
    facts: FactBase
    new: dict[Constant, int]  #: constants that no fact has
    relations: dict[Key, int]

    def rule(self, rule: Rule) -> CodedRule:
        check_safe(rule)
        numbers = {variable: number for number, variable in enumerate(rule.variables)}
        head = self.atom(rule.head, numbers)
        body = tuple(dict.fromkeys(rule.body))
        denied = (item.atom for item in body if item.negated and not item.is_builtin)
        return CodedRule(
            head,
            positive=tuple(self.atom(item.atom, numbers) for item in body if item.binds),
            negative=tuple(self.atom(atom, numbers) for atom in denied),
            comparisons=tuple(self.comparison(item, numbers) for item in body if item.is_builtin),
            probability=rule.probability,
        )

    def atom(self, atom: Atom, numbers: Mapping[Variable, int]) -> CodedAtom:
        key = (atom.predicate, atom.arity)
        relation = self.relations.setdefault(key, len(self.relations))
        return CodedAtom(relation, tuple(self.term(arg, numbers) for arg in atom.args))

    def comparison(self, literal: Literal, numbers: Mapping[Variable, int]) -> CodedComparison:
        left, right = (self.term(arg, numbers) for arg in literal.atom.args)
        return CodedComparison(literal.atom.predicate, left, right, literal.negated)

    def term(self, term: Term, numbers: Mapping[Variable, int]) -> int:
        if isinstance(term, Variable):
            return -1 - numbers[term]
        code = self.facts.code(term.value)
        return self.new.setdefault(term, len(self.facts.constants) + len(self.new)) if code is None else code


def _rows(relation: Relation) -> Rows:
    """The facts of a relation that are not denied and not impossible."""
    keep = np.ones(len(relation), dtype=bool) if relation.negative is None else ~relation.negative
    if relation.probability is not None:
        keep &= relation.probability > 0
    if not keep.all():
        relation = relation.take(keep)
    return Rows(relation.codes, relation.probability)
