"""One evaluator of rule bodies: the head atoms that a rule derives in one step from facts.

Whole programs, run to their fixpoint, are for the engines; here each rule is
asked on its own, and reads facts only. There are three methods, and
`BodyEvaluator.choose` says which one a rule gets and why:

tables
    over few constants, any body as a product of dense truth tables;
products
    over many constants, a body of binary relations between at most three
    distinct constants, as a product of sparse matrices;
joins
    anything else, literal by literal, in blocks of bounded size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from andre.arrays import Floats, Ints
from andre.errors import ConfigError
from andre.facts import FactBase, Key
from andre.inference.coded import CodedAtom, CodedRule, scope_of
from andre.inference.contraction import MOST_VARIABLES, Contraction, Factor, term_grids
from andre.inference.joins import Extensions, instances, join_heads
from andre.logic import Rule

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["METHODS", "BodyEvaluator", "Choice", "Covered", "Limits", "Method", "covered_heads"]


Method: TypeAlias = Literal["tables", "products", "joins"]

#: From the one that is best where it can be used to the one that always can.
METHODS: tuple[Method, ...] = ("tables", "products", "joins")


@dataclass(frozen=True)
class Limits:
    """How much work each method may take on for one rule."""

    multiplications: int = 3_000_000  #: of the largest product of tables
    walks: int = 20_000_000  #: through the third variable of a product of sparse matrices
    block: int = 2_000_000  #: rows that one join makes at once


@dataclass(frozen=True)
class Choice:
    """The method that evaluates a rule, and why it was chosen."""

    method: Method
    reason: str


@dataclass(frozen=True, eq=False)
class Covered:
    """The distinct head atoms that a rule derives."""

    heads: Ints  #: [P, arity], codes, ascending; constants that no fact has come after the dictionary
    groundings: Floats | None  #: [P], in how many ways each is derived; None: joins do not count them
    choice: Choice


def covered_heads(rule: Rule, facts: FactBase) -> Ints:
    """The head atoms that one rule derives in one step from stated facts, [P, arity] codes, ascending.

    For several rules over the same facts make a `BodyEvaluator` once.

    Raises
    ------
    LogicError
        Where a variable is in no positive literal of the body.

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
    """Says which head atoms rules derive in one step from the same facts.

    A head atom is never evidence for itself: a grounding whose body states the
    very atom it derives does not count.

    Parameters
    ----------
    facts
        What is known. Marks and background rules are not read, denied facts do not hold.
    likely
        Whether facts hold only where they are more probable than one half;
        otherwise every stated fact does. Their negation then holds where they
        are less probable than one half.
    own_denial
        Whether a grounding may read the negation of the atom it derives.
    limits
        How much work each method may take on.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_rule
    >>> facts = FactBase.from_facts([parse_atom(f"p({a},{b})") for a, b in ("ab", "bc", "ad", "dc")])
    >>> bodies = BodyEvaluator(facts)
    >>> rule = parse_rule("q(X, Y) :- p(X, Z), p(Z, Y).")
    >>> covered = bodies.cover(rule)
    >>> covered.heads.tolist(), covered.groundings.tolist()
    ([[0, 2]], [2.0])
    >>> print(bodies.choose(rule).reason)
    tables of 4 constants take 64 multiplications
    >>> print(bodies.choose(rule, ("products", "joins")).reason)
    no products, as X and Y may be the same constant; joins take any body
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
        self._matrices = _Matrices(self._known)

    @property
    def n_codes(self) -> int:
        """How many codes there are: constants of the facts, and those that only the rules so far have."""
        return self._known.n_codes

    def rows(self, key: Key) -> Ints:
        """The atoms of a relation that hold, as rows of codes."""
        return self._known.rows(self._known.coder.relation(key))

    def choose(self, rule: Rule, among: Sequence[Method] = METHODS) -> Choice:
        """The first of some methods that suits a rule, or the last of them where none does."""
        return self._chosen(rule, among)[0]

    def cover(self, rule: Rule, among: Sequence[Method] = METHODS) -> Covered:
        """The head atoms that a rule derives, by the first of some methods that suits it.

        Raises
        ------
        LogicError
            Where a variable is in no positive literal of the body.
        """
        choice, way = self._chosen(rule, among)
        return Covered(*way.covered(), choice)

    def is_product(self, rule: Rule) -> bool:
        """Whether a body consists of binary relations between at most three distinct constants.

        Then its groundings are counted by products of matrices. The head atom
        itself must not be among them.
        """
        return _obstacle(self._known.code(rule), rule) is None

    def _chosen(self, rule: Rule, among: Sequence[Method]) -> tuple[Choice, _Tables | _Products | _Joins]:
        coded = self._known.code(rule)
        refused: list[str] = []
        for method in among:
            way: _Tables | _Products | _Joins
            if method == "tables":
                way = _Tables(coded, self._known, self._denied, self._limits.multiplications)
            elif method == "products":
                way = _Products(coded, rule, self._matrices, self._limits.walks)
            else:
                way = _Joins(coded, self._known, self._denied, self._limits.block)
            refusal = None if method == among[-1] else way.refusal
            if refusal is None:
                return Choice(method, "; ".join([*refused, way.reason])), way
            refused.append(f"no {method}, as {refusal}")
        raise ConfigError("there is no method to choose from: give tables, products or joins")


@dataclass(frozen=True, eq=False)
class _Joins:
    rule: CodedRule
    known: Extensions
    denied: bool
    block: int

    refusal = None
    reason = "joins take any body"

    def covered(self) -> tuple[Ints, None]:
        return join_heads(self.rule, self.known, denied=self.denied, block=self.block), None


@dataclass(frozen=True, eq=False)
class _Tables:
    """The body as a product of dense tables: of literals, comparisons, and what is no self-support."""

    rule: CodedRule
    known: Extensions
    denied: bool
    most: int

    @property
    def refusal(self) -> str | None:
        if self.rule.n_variables > MOST_VARIABLES:
            return f"the rule has more than {MOST_VARIABLES} variables"
        return None if self._work <= self.most else f"they would take {self._work:.3g} multiplications"

    @property
    def reason(self) -> str:
        return f"tables of {self._n} constants take {self._work} multiplications"

    @property
    def _n(self) -> int:
        return len(self.known.facts.constants)

    @property
    def _work(self) -> int:
        return self._n**self._contraction.work

    @cached_property
    def _own(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        return self.rule.self_support(denied=self.denied)

    @cached_property
    def _scopes(self) -> list[tuple[int, ...]]:
        """The variables of each table."""
        literals = (*self.rule.positive, *self.rule.negative, *self.rule.comparisons)
        scopes = [item.scope for item in literals]
        return [*scopes, *(scope_of((*own, *head)) for own, head in self._own)] or [()]

    @cached_property
    def _contraction(self) -> Contraction:
        return Contraction.of(self._scopes, self.rule.head.variables)

    def covered(self) -> tuple[Ints, Floats]:
        factors = [Factor(scope, table) for scope, table in zip(self._scopes, self._tables(), strict=True)]
        counts = self._contraction.run(factors, partial(np.einsum, optimize=True))
        bindings = np.stack(np.nonzero(counts), axis=1) if counts.ndim else np.zeros((int(counts > 0), 0))
        heads = instances(self.rule.head.terms, self.rule.head.variables, bindings.astype(np.int64))
        return heads, counts[counts > 0]

    def _tables(self) -> Iterator[Floats]:
        for atom in self.rule.positive:
            yield self._literal(atom, negated=False)
        for atom in self.rule.negative:
            yield 1 - self._literal(atom, negated=True)
        for item in self.rule.comparisons:
            left, right = term_grids((item.left, item.right), item.scope, self._n)
            ranks = self.known.ranks if item.is_order else None
            yield np.asarray(item.holds(left, right, ranks), dtype=np.float64)
        for own, head in self._own:
            scope = scope_of((*own, *head))
            same = np.ones((self._n,) * len(scope), dtype=np.bool_)
            grids = (term_grids(terms, scope, self._n) for terms in (own, head))
            for one, two in zip(*grids, strict=True):
                same &= one == two
            yield 1.0 - same
        if not (self.rule.positive or self.rule.negative or self.rule.comparisons):
            yield np.ones(())

    def _literal(self, atom: CodedAtom, *, negated: bool) -> Floats:
        rows = self.known.matches(atom, negated=negated)[:, np.argsort(atom.variables)]
        table = np.zeros((self._n,) * rows.shape[1])
        table[tuple(rows.T)] = len(rows) > 0
        return table


@dataclass(frozen=True, eq=False)
class _Products:
    """The body as a product of sparse matrices: X to Y, and X to Z by Z to Y."""

    coded: CodedRule
    rule: Rule
    matrices: _Matrices
    walks: int

    @property
    def refusal(self) -> str | None:
        obstacle = _obstacle(self.coded, self.rule)
        if obstacle is not None or self.coded.n_variables == 2:
            return obstacle
        if not (self._linked(0, 2)[0] and self._linked(2, 1)[0]):
            return f"{self.rule.variables[2]} is not linked to both ends"
        out, back = self._steps
        walks = float(out.sum(axis=0) @ back.sum(axis=1))
        inner = self.rule.variables[2]
        return None if walks <= self.walks else f"{walks:.3g} walks lead through {inner}"

    @property
    def reason(self) -> str:
        return "binary relations between distinct constants are multiplied as sparse matrices"

    @cached_property
    def _steps(self) -> tuple[csr_array, csr_array]:
        return self._between(0, 2), self._between(2, 1)

    def covered(self) -> tuple[Ints, Floats]:
        if self.coded.n_variables == 2:
            found = self._between(0, 1)
        else:
            out, back = self._steps
            found = _restricted(out @ back, *self._linked(0, 1))
        coo = found.tocoo()
        keep = (coo.row != coo.col) & (coo.data > 0)
        heads = np.stack([coo.row[keep], coo.col[keep]], axis=1).astype(np.int64)
        order = np.lexsort(heads.T[::-1])
        return heads[order], coo.data[keep][order]

    def _linked(self, one: int, two: int) -> tuple[list[csr_array], list[csr_array]]:
        """The relations that hold, and those that do not hold, from one variable to another."""
        is_reversed = {(-1 - one, -1 - two): False, (-1 - two, -1 - one): True}
        stated, denied = (
            [
                self.matrices.of(atom.relation, negated=negated, transposed=is_reversed[atom.terms])
                for atom in atoms
                if atom.terms in is_reversed
            ]
            for atoms, negated in ((self.coded.positive, False), (self.coded.negative, True))
        )
        return stated, denied

    def _between(self, one: int, two: int) -> csr_array:
        (first, *rest), denied = self._linked(one, two)
        return _restricted(first, rest, denied)


class _Matrices:
    """Binary relations as sparse matrices, each made once; no constant is related to itself."""

    def __init__(self, known: Extensions) -> None:
        self._known = known
        self._made: dict[tuple[int, bool, bool], csr_array] = {}

    def of(self, relation: int, *, negated: bool, transposed: bool) -> csr_array:
        """[n, n], 1 where an atom holds, or with `negated` where its negation does not."""
        from scipy.sparse import csr_array  # noqa: PLC0415  (slow to load, and for many constants only)

        key = relation, negated, transposed
        if key not in self._made:
            rows = self._known.rows(relation, negated=negated)
            x, y = rows[rows[:, 0] != rows[:, 1]].T
            n = len(self._known.facts.constants)
            at = (y, x) if transposed else (x, y)
            self._made[key] = csr_array((np.ones(len(x)), at), shape=(n, n))
        return self._made[key]


def _restricted(matrix: csr_array, stated: Sequence[csr_array], denied: Sequence[csr_array]) -> csr_array:
    """The entries of a matrix where all stated relations hold and no denied one does."""
    for other in stated:
        matrix = matrix * other
    for other in denied:
        matrix = matrix - matrix * other
    return matrix


def _obstacle(coded: CodedRule, rule: Rule) -> str | None:
    """Why a body is no product of binary relations between distinct constants, or None."""
    atoms = (*coded.positive, *coded.negative)
    if not all(len(atom.terms) == len(atom.variables) == 2 for atom in (coded.head, *atoms)):
        return "an atom is not about two variables"
    if coded.n_variables > 3:
        return "the rule has more than three variables"
    if coded.head in atoms:
        return "the head stands in the body"
    apart = {frozenset(item.scope) for item in coded.comparisons if item.sign == "\\="}
    if not all(
        item.sign == "\\=" and not item.negated and len(item.scope) == 2 for item in coded.comparisons
    ):
        return "a comparison is not the \\= of two variables"
    for one, two in combinations(range(coded.n_variables), 2):
        if {one, two} not in apart:
            return f"{rule.variables[one]} and {rule.variables[two]} may be the same constant"
    return None
