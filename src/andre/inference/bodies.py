"""Evaluation of rule bodies: the head atoms that a single rule derives from facts.

Whole programs are run to their fixpoint by the engines; here each rule is
applied once, on its own, and reads only facts. There are three methods, and
`BodyEvaluator.choose` says which one is used for a rule, and why:

tables
    with few constants, any body as a product of dense truth tables;
products
    with many constants, a body of binary relations between at most three
    distinct constants, as a product of sparse matrices;
joins
    anything else, literal by literal, in blocks of bounded size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from andre.arrays import Floats, Ints
from andre.facts import FactBase, Key
from andre.inference.coded import CodedRule, scope_of
from andre.inference.contraction import MOST_VARIABLES, Contraction
from andre.inference.extensions import Extensions, term_grids
from andre.inference.joins import instances, join_heads
from andre.logic import Rule

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Method: TypeAlias = Literal["tables", "products", "joins"]

#: In order of preference; the last one can evaluate any rule.
METHODS: tuple[Method, ...] = ("tables", "products", "joins")
_STRENGTHS = {
    "tables": "tables are fast over few constants",
    "products": "sparse matrices are fast over many constants",
    "joins": "joins take any body",
}


@dataclass(frozen=True)
class Limits:
    """The most work that each method may do for one rule."""

    multiplications: int = 3_000_000  #: of the largest product of tables
    walks: int = 20_000_000  #: through the third variable of a product of sparse matrices
    block: int = 2_000_000  #: rows that one join makes at once


@dataclass(frozen=True)
class Choice:
    """The method that evaluates a rule, and the reason for it."""

    method: Method
    reason: str


@dataclass(frozen=True, eq=False)
class Covered:
    """The distinct head atoms that a rule derives."""

    heads: Ints  #: [P, arity] codes, ascending; constants that occur in no fact have codes after the others
    groundings: Floats | None  #: [P], in how many ways each is derived; None for joins, which do not count
    choice: Choice


def covered_heads(rule: Rule, facts: FactBase) -> Ints:
    """The head atoms that one rule derives in one step from stated facts, [P, arity] codes, ascending.

    For several rules over the same facts make a `BodyEvaluator` once.

    Raises
    ------
    LogicError
        Where a variable is neither in the head nor in a positive literal of the body.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_rule
    >>> facts = FactBase.from_facts([parse_atom(f"p({a},{b})") for a, b in ("ab", "bc", "cb")])
    >>> names = np.array(facts.constants)
    >>> names[covered_heads(parse_rule("q(X, Y) :- p(X, Z), p(Z, Y)."), facts)].tolist()
    [['a', 'c'], ['b', 'b'], ['c', 'c']]
    """
    return BodyEvaluator(facts).cover(rule).heads


class BodyEvaluator:
    """Finds the head atoms that each of several rules derives in one step from the same facts.

    A head atom is never evidence for itself: a grounding whose body contains the
    atom that it derives does not count.

    Parameters
    ----------
    facts
        The facts. Marks and background rules are ignored, and denied facts do not hold.
    likely
        Whether a fact holds if its probability is above one half, and its
        negation if it is below; otherwise every stated fact of a probability above 0 holds.
    own_denial
        Whether a grounding counts whose body negates the atom that it derives:
        yes for ranking atoms that are not known, no for evidence of a rule.
    limits
        How much work each method may take on for one rule.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_rule
    >>> facts = FactBase.from_facts([parse_atom(f"p({a},{b})") for a, b in ("ab", "bc", "ad", "dc")])
    >>> bodies, rule = BodyEvaluator(facts), parse_rule("q(X, Y) :- p(X, Z), p(Z, Y).")
    >>> covered = bodies.cover(rule)
    >>> covered.heads.tolist(), covered.groundings.tolist()
    ([[0, 2]], [2.0])
    >>> bodies.choose(rule, among=("products", "joins"))
    Choice(method='joins', reason='no products: two variables may be the same constant; joins take any body')
    """

    def __init__(
        self,
        facts: FactBase,
        *,
        likely: bool = False,
        own_denial: bool = True,
        limits: Limits = Limits(),  # noqa: B008  (frozen)
    ) -> None:
        self._known, self._denied, self._limits = Extensions(facts, likely=likely), not own_denial, limits
        self._matrices: dict[tuple[int, bool, bool], csr_array] = {}

    @property
    def n_codes(self) -> int:
        """The number of codes, for the constants of the facts and of the rules so far."""
        return self._known.n_codes

    def rows(self, key: Key) -> Ints:
        """The atoms of a relation that hold, as rows of codes."""
        return self._known.rows(self._known.coder.relation(key))

    def is_product(self, rule: Rule) -> bool:
        """Whether a body consists of binary relations between at most three distinct constants.

        Then products of matrices count its groundings. The head atom itself
        must not be in it.
        """
        return _no_product(self._known.code(rule)) is None

    def choose(self, rule: Rule, among: Sequence[Method] = METHODS) -> Choice:
        """The first of some methods that suits a rule; the last of them is assumed to suit every rule."""
        return self._choose(self._known.code(rule), among)

    def cover(self, rule: Rule, among: Sequence[Method] = METHODS) -> Covered:
        """The head atoms that a rule derives, by the first of some methods that suits it.

        Raises
        ------
        LogicError
            Where a variable is neither in the head nor in a positive literal of the body.
        """
        coded = self._known.code(rule)
        choice = self._choose(coded, among)
        heads: Ints
        groundings: Floats | None = None
        if choice.method == "tables":
            heads, groundings = _by_tables(coded, self._known, self._denied)
        elif choice.method == "products":
            heads, groundings = self._by_products(coded)
        else:
            heads = join_heads(coded, self._known, denied=self._denied, block=self._limits.block)
        return Covered(heads, groundings, choice)

    def _choose(self, rule: CodedRule, among: Sequence[Method]) -> Choice:
        against = {"tables": self._no_tables, "products": self._no_products}
        reasons: list[str] = []
        for method in among:
            refusal = against[method](rule) if method in against and method != among[-1] else None
            if refusal is None:
                break
            reasons.append(f"no {method}: {refusal}")
        return Choice(method, "; ".join([*reasons, _STRENGTHS[method]]))

    def _no_tables(self, rule: CodedRule) -> str | None:
        """Why a rule cannot be evaluated by tables, or None if it can."""
        if rule.n_variables > MOST_VARIABLES:
            return f"the rule has more than {MOST_VARIABLES} variables"
        work = Contraction.of(_scopes(rule, self._denied), rule.head.variables).work
        most = self._limits.multiplications
        return None if self._known.n**work <= most else f"more than {most:,} multiplications"

    def _no_products(self, rule: CodedRule) -> str | None:
        """Why a rule cannot be evaluated by products of sparse matrices, or None if it can."""
        refusal = _no_product(rule)
        if refusal is not None or rule.n_variables == 2:
            return refusal
        if not (self._linked(rule, 0, 2)[0] and self._linked(rule, 2, 1)[0]):
            return "a third variable links to one end"
        out, back = self._between(rule, 0, 2), self._between(rule, 2, 1)
        walks = float(out.sum(axis=0) @ back.sum(axis=1))
        return None if walks <= self._limits.walks else f"{walks:.3g} walks"

    def _by_products(self, rule: CodedRule) -> tuple[Ints, Floats]:
        if rule.n_variables == 2:
            found = self._between(rule, 0, 1)
        else:
            walks = self._between(rule, 0, 2) @ self._between(rule, 2, 1)
            found = _restricted(walks, *self._linked(rule, 0, 1))
        coo = found.tocoo()
        keep = (coo.row != coo.col) & (coo.data > 0)
        heads = np.stack([coo.row[keep], coo.col[keep]], axis=1).astype(np.int64)
        order = np.lexsort(heads.T[::-1])
        return heads[order], coo.data[keep][order]

    def _between(self, rule: CodedRule, one: int, two: int) -> csr_array:
        """1 where the literals between two variables hold, [n, n]; at least one of them is positive."""
        (first, *rest), denied = self._linked(rule, one, two)
        return _restricted(first, rest, denied)

    def _linked(self, rule: CodedRule, one: int, two: int) -> tuple[list[csr_array], list[csr_array]]:
        """The matrices of the positive and of the negated literals from one variable to another."""
        ends = {(-1 - one, -1 - two): False, (-1 - two, -1 - one): True}
        stated = [self._matrix(a.relation, False, ends[a.terms]) for a in rule.positive if a.terms in ends]
        denied = [self._matrix(a.relation, True, ends[a.terms]) for a in rule.negative if a.terms in ends]
        return stated, denied

    def _matrix(self, relation: int, negated: bool, transposed: bool) -> csr_array:
        """A relation between distinct constants as a matrix, [n, n], kept for later rules."""
        from scipy.sparse import csr_array  # noqa: PLC0415  (slow to load, and for many constants only)

        key = relation, negated, transposed
        if key not in self._matrices:
            rows = self._known.rows(relation, negated=negated)
            x, y = rows[rows[:, 0] != rows[:, 1]].T
            at, n = (y, x) if transposed else (x, y), self._known.n
            self._matrices[key] = csr_array((np.ones(len(x)), at), shape=(n, n))
        return self._matrices[key]


def _restricted(matrix: csr_array, stated: Sequence[csr_array], denied: Sequence[csr_array]) -> csr_array:
    """The entries of a matrix where all stated relations hold, and none of the denied ones."""
    for other in stated:
        matrix = matrix * other
    for other in denied:
        matrix = matrix - matrix * other
    return matrix


def _no_product(rule: CodedRule) -> str | None:
    """Why a body is no product of binary relations between distinct constants; None if it is one."""
    atoms, apart = (*rule.positive, *rule.negative), set()
    if not all(len(atom.terms) == len(atom.variables) == 2 for atom in (rule.head, *atoms)):
        return "an atom is not about two variables"
    if rule.n_variables > 3:
        return "more than three variables"
    if rule.head in atoms:
        return "the head stands in the body"
    for item in rule.comparisons:
        if item.sign != "\\=" or item.negated or len(item.scope) < 2:
            return "a comparison is not the \\= of two variables"
        apart.add(item.scope)
    if not apart.issuperset(combinations(range(rule.n_variables), 2)):
        return "two variables may be the same constant"
    return None


def _by_tables(rule: CodedRule, known: Extensions, denied: bool) -> tuple[Ints, Floats]:
    contraction = Contraction.of(_scopes(rule, denied), rule.head.variables)
    tables = list(_tables(rule, known, denied))
    counts = np.asarray(contraction.run(tables))
    held = np.argwhere(counts > 0)  # [P, variables of the head]
    return instances(rule.head.terms, rule.head.variables, held), counts[counts > 0]


def _scopes(rule: CodedRule, denied: bool) -> list[tuple[int, ...]]:
    """The variables of each table of a body."""
    atoms = (*rule.positive, *rule.negative)
    own = (scope_of((*mine, *head)) for mine, head in rule.self_support(denied=denied))
    return [(), *(atom.scope for atom in atoms), *(item.scope for item in rule.comparisons), *own]


def _tables(rule: CodedRule, known: Extensions, denied: bool) -> Iterator[Floats]:
    """The tables of a body: of literals, of comparisons, and of where no literal is the head atom itself."""
    yield np.ones(())  # the value of a body without literals
    yield from map(known.table, rule.positive)
    yield from map(partial(known.table, negated=True), rule.negative)
    yield from map(known.table, rule.comparisons)
    for own, head in rule.self_support(denied=denied):
        scope = scope_of((*own, *head))
        same = np.ones((known.n,) * len(scope), dtype=np.bool_)
        for one, two in zip(*(term_grids(terms, scope, known.n) for terms in (own, head)), strict=True):
            same &= one == two
        yield (~same).astype(np.float64)
