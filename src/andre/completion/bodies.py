"""Rule bodies as sequences of steps: the rules that they stand for, and the pairs that they cover."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal as OneOf
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from andre.arrays import Ints, csr_entries
from andre.completion.graph import Graph
from andre.facts import FactBase
from andre.logic import Atom, Constant, Literal, Rule, Variable

#: The pairs that a body covers, as ascending keys x * n + y, and in how many ways each.
Covered: TypeAlias = tuple[Ints, NDArray[np.float32]]

#: A relational path from X to Y; two steps from X straight to Y; a constant at Y, or at X.
Shape: TypeAlias = OneOf["path", "both", "to", "from"]
#: By two steps: the constants with a closed walk along them, and in how many ways there is one.
ClosedWalks: TypeAlias = dict[tuple[int, int], tuple[Ints, NDArray[np.float32]]]
#: A sparse product with fewer terms than one in so many constants is computed term by term.
_FEW = 4
#: Stands for any constant at the end of a step.
ANY = -1

#: The most literals of a chain.
LONGEST = 5
_X, _Y, *_BETWEEN = _NAMES = tuple(map(Variable, ("X", "Y", "Z", "W", "V", "U")))


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a rule about X and Y, by steps of a `Graph`.

    `path` is a relational path (a chain): its steps lead from X to Y through other
    constants. `both` joins X and Y by each of its two steps. `to` has the numbers
    (step, e, c): the head is h(X, c), and the step leads from X to e, which may be
    `ANY`. `from` has the same numbers with the head h(c, Y), and the step leads from Y.
    """

    shape: Shape
    steps: tuple[int, ...]

    def reversed(self, graph: Graph) -> Body:
        """The body that covers (y, x) wherever this one covers (x, y)."""
        if self.shape == "path":
            return Body("path", tuple(graph.inverse(step) for step in reversed(self.steps)))
        if self.shape == "both":
            return Body("both", tuple(sorted(map(graph.inverse, self.steps))))
        return Body("from" if self.shape == "to" else "to", self.steps)


def to_rule(body: Body, relation: str, graph: Graph, facts: FactBase) -> Rule:
    """The rule that a body stands for, with inequalities where two variables could be the same constant.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> facts = FactBase.from_facts([parse_atom("p(a, b)"), parse_atom("q(b, c)")])
    >>> graph = Graph.of(facts)
    >>> print(to_rule(Body("path", (0, 3)), "h", graph, facts))
    h(X, Y) :- p(X, Z), q(Y, Z), X \\= Y, X \\= Z, Y \\= Z.
    >>> print(to_rule(Body("to", (0, 1, 2)), "h", graph, facts))
    h(X, c) :- p(X, b).
    >>> print(to_rule(Body("to", (0, ANY, 2)), "h", graph, facts))
    h(X, c) :- p(X, Z), X \\= c, X \\= Z.
    """
    if body.shape in {"to", "from"}:
        step, end, head_end = body.steps
        head_end_ = Constant(facts.constants[head_end])
        free = _X if body.shape == "to" else _Y
        args = (_X, head_end_) if body.shape == "to" else (head_end_, _Y)
        if end == ANY:
            differ = (Literal(Atom("\\=", (free, other))) for other in (head_end_, _BETWEEN[0]))
            return Rule(Atom(relation, args), (_literal(graph, step, free, _BETWEEN[0]), *differ))
        end_ = Constant(facts.constants[end])
        # The free variable is another constant than both; that is said only where it makes a difference.
        apart = []
        if graph.steps[step][head_end, end]:
            apart.append(Literal(Atom("\\=", (free, head_end_))))
        if (step % len(graph.relations), end) in graph.loops:
            apart.append(Literal(Atom("\\=", (free, end_))))
        return Rule(Atom(relation, args), (_literal(graph, step, free, end_), *apart))
    if body.shape == "both":
        literals = [_literal(graph, step, _X, _Y) for step in body.steps]
        variables: tuple[Variable, ...] = (_X, _Y)
    else:
        route = (_X, *_BETWEEN[: len(body.steps) - 1], _Y)
        literals = [
            _literal(graph, step, *ends) for step, ends in zip(body.steps, pairwise(route), strict=True)
        ]
        variables = tuple(sorted(route, key=_NAMES.index))
    distinct = [Literal(Atom("\\=", two)) for two in combinations(variables, 2)]
    return Rule(Atom(relation, (_X, _Y)), (*literals, *distinct))


def _literal(graph: Graph, step: int, start: Variable, end: Variable | Constant) -> Literal:
    count = len(graph.relations)
    args = (start, end) if step < count else (end, start)
    return Literal(Atom(graph.relations[step % count], args))


def covered_pairs(body: Body, graph: Graph) -> Covered:
    """The pairs of distinct constants that a body covers.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> graph = Graph.of(FactBase.from_facts([parse_atom("p(a, b)"), parse_atom("p(b, c)")]))
    >>> covered_pairs(Body("path", (0, 0)), graph)[0].tolist()  # a and c, numbers 0 and 2 of 3
    [2]
    """
    if body.shape in {"to", "from"}:
        *_, c = body.steps
        other = satisfying(graph, body)
        other = other[other != c]
        keys = np.sort(other * graph.n + c if body.shape == "to" else c * graph.n + other)
        return keys, np.ones(len(keys), dtype=np.float32)
    matrix = Walks(graph, np.arange(graph.n)).along(body)
    matrix.sort_indices()
    start, end = csr_coordinates(matrix)
    apart = start != end
    return (start * graph.n + end)[apart], matrix.data[apart].astype(np.float32)


def satisfying(graph: Graph, body: Body) -> Ints:
    """The constants that satisfy the literal of a body of shape `to` or `from`."""
    step, end, _ = body.steps
    if end == ANY:
        return np.flatnonzero(np.diff(graph.steps[step].indptr))
    return np.asarray(graph.steps[graph.inverse(step)][end].indices, dtype=np.int64)


class Walks:
    """Counts the walks along bodies from some starts to every constant, over distinct constants.

    The beginning that two chains have in common is walked once, if they follow one another.

    Parameters
    ----------
    graph
        Whose steps are walked.
    starts
        Constants to begin from: [Q].
    closed_walks
        Filled here, and to be passed on to walks along the same bodies from other starts.
    """

    def __init__(self, graph: Graph, starts: Ints, closed_walks: ClosedWalks | None = None) -> None:
        self._graph, self._starts = graph, starts
        self._closed_walks: ClosedWalks = {} if closed_walks is None else closed_walks
        self._first: tuple[int, csr_matrix] | None = None
        self._inner: tuple[tuple[int, int], csr_matrix] | None = None
        #: After each step of the last long chain: the step, and the row and all constants of every walk.
        self._walked: list[tuple[int, Ints, list[Ints]]] = []

    def along(self, body: Body) -> csr_matrix:
        """The number of walks along a body of shape `path` or `both`: [Q, n].

        Chains of up to three steps may end where they start, X = Y.

        Examples
        --------
        >>> from andre.logic import parse_atom
        >>> facts = FactBase.from_facts(map(parse_atom, ["p(a, b)", "p(b, c)", "p(c, d)", "p(d, c)"]))
        >>> Walks(Graph.of(facts), np.array([0])).along(Body("path", (0, 0, 0))).toarray().tolist()
        [[0.0, 0.0, 0.0, 1.0]]
        """
        graph, steps = self._graph, body.steps
        first = self._one_step(steps[0])
        if body.shape == "both":
            return first.multiply(graph.steps[steps[1]][self._starts]).tocsr()
        if len(steps) == 1:
            return first
        if len(steps) == 2:
            return _product(first, graph.steps[steps[1]])
        if len(steps) > 3:
            return self._by_listing(steps)
        _, two, three = steps
        walks = _product(self._two_steps(steps[0], two), graph.steps[three])
        # From X over Z and W to Y: less those with Y = Z, of which those with W = X are gone already.
        closed = self._ways_back(two, three, first.indices)  # walks from Z over W back to Z
        if closed.any():
            returning = csr_matrix((first.data * closed, first.indices, first.indptr), shape=first.shape)
            back = graph.steps[graph.inverse(two)][self._starts]
            home = first.multiply(back).multiply(graph.steps[three][self._starts])
            walks = csr_matrix(walks - returning + home)
            walks.eliminate_zeros()
        return walks

    def _ways_back(self, two: int, three: int, constants: Ints) -> NDArray[np.float32]:
        """How many closed walks along two steps begin at each of some constants."""
        graph = self._graph
        if three == graph.inverse(two):
            first = graph.steps[two].indptr
            return np.asarray(first[constants + 1] - first[constants], dtype=np.float32)
        if (two, three) not in self._closed_walks and len(constants) < self._graph.n // _FEW:
            asked, place = np.unique(constants, return_inverse=True)
            ways = graph.steps[two][asked].multiply(graph.steps[graph.inverse(three)][asked]).sum(axis=1)
            return np.asarray(ways, dtype=np.float32).ravel()[place]
        if (two, three) not in self._closed_walks:
            ways = graph.steps[two].multiply(graph.steps[graph.inverse(three)]).sum(axis=1)
            ways = np.asarray(ways, dtype=np.float32).ravel()  # [n]
            closed = np.flatnonzero(ways)
            self._closed_walks[two, three] = closed, ways[closed]
        closed, ways = self._closed_walks[two, three]
        if not len(closed):
            return np.zeros(len(constants), dtype=np.float32)
        at = np.minimum(np.searchsorted(closed, constants), len(closed) - 1)
        return np.where(closed[at] == constants, ways[at], np.float32(0))

    def _one_step(self, step: int) -> csr_matrix:
        if self._first is None or self._first[0] != step:
            self._first = step, self._graph.steps[step][self._starts]
        return self._first[1]

    def _two_steps(self, one: int, two: int) -> csr_matrix:
        """Walks of two steps, but for those that lead back to the start: [Q, n]."""
        if self._inner is None or self._inner[0] != (one, two):
            found = _product(self._one_step(one), self._graph.steps[two])
            row, column = csr_coordinates(found)
            if (back := self._starts[row] == column).any():
                found.data[back] = 0
                found.eliminate_zeros()
            self._inner = (one, two), found
        return self._inner[1]

    def _by_listing(self, steps: tuple[int, ...]) -> csr_matrix:
        """The same by listing walks: for longer chains, products of matrices need too many corrections."""
        listed = [step for step, _, _ in self._walked]
        shared = next(
            (at for at in range(len(listed)) if listed[: at + 1] != list(steps[: at + 1])), len(listed)
        )
        # The last step is always taken anew: no chain is asked for twice.
        del self._walked[min(shared, len(steps) - 1) :]
        row, walks = (
            np.arange(len(self._starts)),
            [self._starts],
        )  # constants at each place of all walks so far
        if self._walked:
            _, row, walks = self._walked[-1]
        for step in steps[len(self._walked) :]:
            walk, end = row_entries(self._graph.steps[step], walks[-1])
            keep = np.ones(len(end), dtype=np.bool_)
            for before in walks[:-1]:
                keep &= before[walk] != end
            walk, end = walk[keep], end[keep]
            row, walks = row[walk], [*(before[walk] for before in walks), end]
            self._walked.append((step, row, walks))
        ways = np.ones(len(row), dtype=np.float32)
        return csr_matrix((ways, (row, walks[-1])), shape=(len(self._starts), self._graph.n))


def _product(walks: csr_matrix, step: csr_matrix) -> csr_matrix:
    """The product of two sparse matrices, [Q, n] and [n, n].

    Few terms are listed: the usual product takes a pass over all constants.

    Examples
    --------
    >>> walks = csr_matrix(np.array([[0, 2, 1]], dtype=np.float32))
    >>> _product(walks, csr_matrix(np.array([[0, 1, 0], [1, 0, 0], [1, 0, 0]]))).toarray().tolist()
    [[3.0, 0.0, 0.0]]
    """
    terms = int((step.indptr[walks.indices + 1] - step.indptr[walks.indices]).sum(dtype=np.int64))
    if terms > walks.shape[1] // _FEW:
        return walks @ step
    which, entry = csr_entries(step.indptr, walks.indices)
    row = np.repeat(np.arange(walks.shape[0]), np.diff(walks.indptr))[which]
    data = walks.data[which] * step.data[entry]
    return csr_matrix((data, (row, step.indices[entry])), shape=(walks.shape[0], step.shape[1]))


def csr_coordinates(matrix: csr_matrix) -> tuple[Ints, Ints]:
    """Row and column of every entry of a matrix, row by row."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return rows, matrix.indices.astype(np.int64)


def row_entries(matrix: csr_matrix, rows: Ints) -> tuple[Ints, Ints]:
    """The entries of some rows, one row after the other: each entry's position in `rows`, and its column."""
    which, entry = csr_entries(matrix.indptr, rows)
    return which, matrix.indices[entry].astype(np.int64)
