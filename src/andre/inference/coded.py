"""Rules over integers, as engines and evaluators of bodies read them.

Constants are positions in one dictionary and relations are numbered, so that
whatever runs a rule sees only integers. A term is an integer: the code of a
constant if it is zero or more, and the variable number `-1 - term` if it
is negative.

The meaning of negated literals is decided here, for all that run rules. In a
closed world a negated literal holds if its atom does not. In an open world an atom that is
neither stated nor denied is unknown, and `\\+ p(x)` needs a fact that
doubts p(x): one that denies it, or states it with less than certainty. So a
rule gets, beside each negated literal, a positive one over the `doubted` facts
of its relation, and whatever runs the rule need not know about worlds.

In the same way a variable of the head that no positive literal binds gets a
positive literal over the constants of its arguments' types.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools, Floats, Ints
from andre.facts import FactBase, Key, Relation, Value, argument_domains
from andre.logic import (
    ORDERS,
    Atom,
    Constant,
    Literal,
    Rule,
    Term,
    Variable,
    check_runnable,
    unsafe_variables,
)


def is_variable(term: int) -> bool:
    """Whether a term of a coded atom is a variable."""
    return term < 0


def variable_number(term: int) -> int:
    """The number of a variable."""
    return -1 - term


def scope_of(terms: Iterable[int]) -> tuple[int, ...]:
    """The numbers of the distinct variables among some terms, ascending.

    Examples
    --------
    >>> scope_of((-3, 5, -1, -3))
    (0, 2)
    """
    return tuple(sorted({variable_number(term) for term in terms if is_variable(term)}))


def number_ranks(constants: Iterable[Value]) -> Ints:
    """The rank of each constant among the numbers, the same for equal numbers; -1 for names.

    Examples
    --------
    >>> number_ranks([2.5, "a", 1, 1.0]).tolist()
    [1, -1, 0, 0]
    """
    listed = list(constants)
    ranks = np.full(len(listed), -1, dtype=np.int64)
    rank, before = -1, None
    # Python compares integers and floats exactly, unlike NumPy.
    for value, code in sorted((v, code) for code, v in enumerate(listed) if not isinstance(v, str)):
        rank += value != before
        ranks[code], before = rank, value
    return ranks


def compare(sign: str, left: Any, right: Any, ranks: Any) -> Any:
    """Whether a comparison holds between constants, given by two codes or two arrays of codes.

    Equality is that of constants, so 1 and 1.0 differ. An order holds only between
    numbers, never between names.

    Parameters
    ----------
    ranks
        The `number_ranks` of the constants by code; not used for equality.

    Examples
    --------
    >>> ranks = number_ranks([2.5, "a", 1, 1.0])
    >>> compare("=<", np.array([2, 2, 1]), np.array([3, 0, 0]), ranks).tolist()
    [True, True, False]
    """
    if sign in ("=", "\\="):
        return (left == right) == (sign == "=")
    one, other = ranks[left], ranks[right]
    return (one >= 0) & (other >= 0) & ORDERS[sign](one, other)


@dataclass(frozen=True, slots=True)
class CodedAtom:
    """A relation's number applied to terms."""

    relation: int
    terms: tuple[int, ...]

    @property
    def variables(self) -> tuple[int, ...]:
        """The numbers of its distinct variables, in order of occurrence."""
        return tuple(dict.fromkeys(variable_number(term) for term in self.terms if is_variable(term)))

    @property
    def scope(self) -> tuple[int, ...]:
        """The numbers of its distinct variables, ascending."""
        return scope_of(self.terms)


@dataclass(frozen=True, slots=True)
class CodedComparison:
    """A comparison of two terms, or its negation."""

    sign: str
    terms: tuple[int, ...]  #: left and right
    negated: bool

    @property
    def scope(self) -> tuple[int, ...]:
        """The numbers of its distinct variables, ascending."""
        return scope_of(self.terms)

    @property
    def is_order(self) -> bool:
        """Whether it is an order, not an equality."""
        return self.sign in ORDERS


@dataclass(frozen=True, slots=True)
class CodedRule:
    """A rule with its literals sorted by kind; the variables of its head have the first numbers."""

    head: CodedAtom
    #: In an open world also that the atoms of `negative` are doubted, and what a variable of the head
    #: stands for that no other literal binds.
    positive: tuple[CodedAtom, ...]
    negative: tuple[CodedAtom, ...]
    comparisons: tuple[CodedComparison, ...]
    probability: float

    @property
    def n_variables(self) -> int:
        """How many variables its atoms have."""
        return len(scope_of(term for a in (self.head, *self.positive, *self.negative) for term in a.terms))

    def self_support(self, *, denied: bool) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """The body literals that may be the head atom itself, with the terms that must then be equal.

        Each is given as terms of the literal and as many terms of the head. In
        a grounding where they are equal in pairs the body reads the very atom
        that it derives: it is no evidence.

        Parameters
        ----------
        denied
            Whether negated literals are listed too.
        """
        found = []
        for atom in (*self.positive, *(self.negative if denied else ())):
            if atom.relation == self.head.relation:
                both = zip(atom.terms, self.head.terms, strict=True)
                pairs = [(own, head) for own, head in both if own != head]
                if all(is_variable(own) or is_variable(head) for own, head in pairs):
                    found.append((tuple(own for own, _ in pairs), tuple(head for _, head in pairs)))
        return found


@dataclass(frozen=True, eq=False)
class Rows:
    """Facts of one relation: codes, and probabilities if some facts are uncertain."""

    codes: NDArray[np.int32]  #: [N, arity]
    values: Floats | None = None  #: [N]; None: all 1

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
    (CodedComparison(sign='\\\\=', terms=(-2, 2), negated=False),)
    """

    rules: tuple[CodedRule, ...]
    keys: tuple[Key, ...]  #: relation number -> name and arity
    constants: tuple[Value, ...]
    facts: Mapping[int, Rows]  #: the stated facts of the relations that the program mentions, or the doubted

    @classmethod
    def of(cls, rules: Iterable[Rule], facts: FactBase) -> CodedProgram:
        """Code the rules over the dictionary of the facts, extended by the constants of the rules."""
        coder = Coder(facts)
        coded = []
        for rule in rules:
            check_runnable(rule)
            coded.append(coder.rule(rule))
        stated = {
            number: _doubted_rows(facts.relations[key])
            if coder.is_of_doubts(number)
            else _rows(facts.relations[key])
            for number, key in enumerate(coder.keys)
            if key in facts.relations
        }
        stated |= {number: Rows(codes.astype(np.int32)) for number, codes in coder.domains.items()}
        return cls(tuple(coded), tuple(coder.keys), coder.constants, stated)

    @property
    def heads(self) -> frozenset[int]:
        """The numbers of the relations that rules define."""
        return frozenset(rule.head.relation for rule in self.rules)

    @property
    def is_crisp(self) -> bool:
        """Whether every fact and rule is certain."""
        return all(rows.values is None for rows in self.facts.values()) and all(
            rule.probability == 1 for rule in self.rules
        )

    @cached_property
    def ranks(self) -> Ints:
        """The `number_ranks` of the constants."""
        return number_ranks(self.constants)

    @property
    def orders(self) -> bool:
        """Whether some rule has an order."""
        return any(item.is_order for rule in self.rules for item in rule.comparisons)

    def atom(self, relation: int, codes: Sequence[int]) -> Atom:
        """The atom behind a row of codes."""
        return Atom(self.keys[relation][0], tuple(Constant(self.constants[code]) for code in codes))


class Coder:
    """Codes rules over the dictionary of some facts.

    Relations are numbered as they come; a constant that no fact has gets the
    next code beyond the dictionary. The doubted facts of a relation are one of
    their own, of the same name and arity; so is the domain of an argument.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_rule
    >>> facts = FactBase.from_facts([parse_atom("p(a)")], negatives=[parse_atom("q(a)")], world="open")
    >>> coder = Coder(facts)
    >>> coder.rule(parse_rule("h(X) :- p(X), \\\\+ q(X).")).positive
    (CodedAtom(relation=1, terms=(-1,)), CodedAtom(relation=3, terms=(-1,)))
    >>> coder.keys[3], coder.is_of_doubts(3)
    (('q', 1), True)
    """

    def __init__(self, facts: FactBase) -> None:
        self._facts = facts
        self._new: dict[Constant, int] = {}
        self._relations: dict[Key, int] = {}
        self._doubts: dict[int, int] = {}  #: relation number -> that of its doubted facts
        self._ranges: dict[tuple[Key, int], int] = {}  #: relation and argument -> number of its domain
        self.domains: dict[int, Ints] = {}  #: number of a domain -> codes of its constants, [N, 1]
        self.keys: list[Key] = []  #: relation number -> name and arity

    @property
    def constants(self) -> tuple[Value, ...]:
        """The constants of the facts, followed by those that occur only in rules."""
        return self._facts.constants + tuple(constant.value for constant in self._new)

    def __len__(self) -> int:
        """The number of codes."""
        return len(self._facts.constants) + len(self._new)

    def rule(self, rule: Rule) -> CodedRule:
        """Code one rule, without repeated literals."""
        numbers = {variable: number for number, variable in enumerate(rule.variables)}
        body = tuple(dict.fromkeys(rule.body))
        denied = (item.atom for item in body if item.negated and not item.is_builtin)
        head = self._atom(rule.head, numbers)
        positive = tuple(self._atom(item.atom, numbers) for item in body if item.binds)
        negative = tuple(self._atom(atom, numbers) for atom in denied)
        if self._facts.world == "open":
            positive += tuple(CodedAtom(self._doubts_of(atom.relation), atom.terms) for atom in negative)
        free = unsafe_variables(rule)
        positive += tuple(
            CodedAtom(self._range_of(rule.head.key, place), (-1 - numbers[arg],))
            for place, arg in enumerate(rule.head.args)
            if arg in free and isinstance(arg, Variable)
        )
        return CodedRule(
            head,
            positive,
            negative,
            comparisons=tuple(self._comparison(item, numbers) for item in body if item.is_builtin),
            probability=rule.probability,
        )

    def relation(self, key: Key) -> int:
        """The number of a relation."""
        if key not in self._relations:
            self._relations[key] = len(self.keys)
            self.keys.append(key)
        return self._relations[key]

    def is_of_doubts(self, number: int) -> bool:
        """Whether a number is that of the doubted facts of a relation."""
        return number in self._doubts.values()

    def _range_of(self, key: Key, place: int) -> int:
        """The number of the unary relation of the constants that an argument ranges over."""
        if (key, place) not in self._ranges:
            codes = argument_domains(self._facts, key)[place][:, None].astype(np.int64)
            self._ranges[key, place] = len(self.keys)
            self.domains[len(self.keys)] = codes
            self.keys.append((f"argument {place + 1} of {key[0]}/{key[1]}", 1))
        return self._ranges[key, place]

    def _doubts_of(self, relation: int) -> int:
        if relation not in self._doubts:
            self._doubts[relation] = len(self.keys)
            self.keys.append(self.keys[relation])
        return self._doubts[relation]

    def _atom(self, atom: Atom, numbers: Mapping[Variable, int]) -> CodedAtom:
        relation = self.relation(atom.key)
        return CodedAtom(relation, tuple(self._term(arg, numbers) for arg in atom.args))

    def _comparison(self, literal: Literal, numbers: Mapping[Variable, int]) -> CodedComparison:
        terms = tuple(self._term(arg, numbers) for arg in literal.atom.args)
        return CodedComparison(literal.atom.predicate, terms, literal.negated)

    def _term(self, term: Term, numbers: Mapping[Variable, int]) -> int:
        if isinstance(term, Variable):
            return -1 - numbers[term]
        code = self._facts.code(term.value)
        if code is None:
            code = self._new.setdefault(term, len(self._facts.constants) + len(self._new))
        return code


def _rows(relation: Relation) -> Rows:
    """The facts of a relation that are not denied and have a probability above 0."""
    keep = ~relation.column("negative") & (relation.column("probability") > 0)
    if not keep.all():
        relation = relation.take(keep)
    return Rows(relation.codes, relation.probability)


def doubted(relation: Relation) -> Bools:
    """Which facts of a relation doubt their atoms: denied ones, and all that are not certain, [N].

    Examples
    --------
    >>> chances, denied = np.array([1.0, 0.3, 1.0]), np.array([False, False, True])
    >>> doubted(Relation("p", np.array([[0], [1], [2]]), probability=chances, negative=denied)).tolist()
    [False, True, True]
    """
    return relation.column("negative") | (relation.column("probability") < 1)


def _doubted_rows(relation: Relation) -> Rows:
    """The doubted facts, without probabilities: how far an atom holds is read from its own relation."""
    return Rows(relation.codes[doubted(relation)])
