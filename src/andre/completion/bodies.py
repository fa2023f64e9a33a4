"""Rule bodies as a few numbers each: the rules they stand for, what they cover, the search for long ones.

Chains are relational paths of three and four literals. They are found by walks
between the two ends of sampled facts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, TypeAlias
from typing import Literal as OneOf

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags

from andre.arrays import Floats, Ints, csr_entries
from andre.completion.graph import Graph
from andre.facts import FactBase
from andre.limits import check
from andre.logic import Atom, Constant, Literal, Rule, Variable

if TYPE_CHECKING:
    from andre.completion.config import CompletionPlan

#: The pairs that a body covers, as ascending keys x * n + y, and in how many ways each.
Covered: TypeAlias = tuple[Ints, NDArray[np.float32]]

#: A relational path from X to Y; two steps from X straight to Y; a constant at Y, or at X.
Shape: TypeAlias = OneOf["path", "both", "to", "from"]

_X, _Y, _Z, _W, _V = map(Variable, ("X", "Y", "Z", "W", "V"))
#: Starts from which it is estimated how many pairs a chain covers.
_PROBED = 50
_ROUTES = {1: (_X, _Y), 2: (_X, _Z, _Y), 3: (_X, _Z, _W, _Y), 4: (_X, _Z, _W, _V, _Y)}


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a rule about X and Y, by steps of a `Graph`.

    `path` is a relational path: its steps lead from X to Y through other
    constants. `both` joins X and Y by each of its two steps. `to` has
    (step, e, c): the head's second argument is c, and the step leads from X to
    e. `from` is the same with c as the head's first argument, and Y in place of X.
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
    """
    if body.shape in {"to", "from"}:
        step, end, head_end = body.steps
        end_, head_end_ = Constant(facts.constants[end]), Constant(facts.constants[head_end])
        free = _X if body.shape == "to" else _Y
        args = (_X, head_end_) if body.shape == "to" else (head_end_, _Y)
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
        route = _ROUTES[len(body.steps)]
        literals = [
            _literal(graph, step, *ends) for step, ends in zip(body.steps, pairwise(route), strict=True)
        ]
        variables = tuple(sorted(route, key=(_X, _Y, _Z, _W, _V).index))
    distinct = [Literal(Atom("\\=", two)) for two in combinations(variables, 2)]
    return Rule(Atom(relation, (_X, _Y)), (*literals, *distinct))


def _literal(graph: Graph, step: int, start: Variable, end: Variable | Constant) -> Literal:
    count = len(graph.relations)
    args = (start, end) if step < count else (end, start)
    return Literal(Atom(graph.relations[step % count], args))


def long_bodies(graph: Graph, step: int, plan: CompletionPlan, least: float = 0.0) -> list[Body]:
    """The chains that connect most of some sampled facts of a target, for each length of the plan.

    A bidirectional search: for each fact, walks of two steps from its start
    meet walks of one or two steps back from its end. The fact itself is no part
    of a walk.

    Parameters
    ----------
    step
        The target.
    least
        Chains whose confidence is estimated at much less than this are left out.
    """
    config = plan.config
    pairs = graph.pairs(step, "train")
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if not plan.chains or not len(pairs):
        return []
    rng = np.random.default_rng((config.seed, step))
    sampled = pairs[rng.choice(len(pairs), min(len(pairs), config.chain_facts), replace=False)]
    found: dict[int, Counter[int]] = {length: Counter() for length in plan.lengths}
    for x, y in sampled.tolist():
        check()
        out, back = _reached(graph, x, y), _reached(graph, y, x)
        for length, times in found.items():
            there, home = out[1], back[length - 3]
            if _per_constant(there) @ _per_constant(home) <= config.sizes.meetings:
                meets = (there @ home.T).tocoo()  # [S * S, S or S * S]
                times.update(_codes(graph, meets.row.astype(np.int64), meets.col, length).tolist())
    bodies = [
        (body, count)
        for length, times in found.items()
        for body, count in _most_common(graph, times, length, plan)
    ]
    if not least:
        return [body for body, _ in bodies]
    starts = np.unique(pairs[:, 0])
    some = starts[rng.choice(len(starts), min(len(starts), _PROBED), replace=False)]
    per_pair = len(some) / len(starts) * len(pairs) / len(sampled)  # facts of `some` for each sampled one
    return [body for body, count in bodies if count * per_pair > least / 3 * _ends(graph, body, some)]


def _ends(graph: Graph, body: Body, starts: Ints) -> int:
    """An upper bound of the pairs that a chain covers from some starts: constants may repeat here."""
    reached = graph.steps[body.steps[0]][starts]
    for step in body.steps[1:]:
        reached = reached @ graph.steps[step]
    return int(reached.nnz)


def _reached(graph: Graph, x: int, y: int) -> tuple[csr_matrix, csr_matrix]:
    """Constants other than y one step from x, [S, n], and other than x two steps from x, [S * S, n]."""
    count, n = graph.n_steps, graph.n

    def matrix(row: Ints, column: Ints, height: int) -> csr_matrix:
        return csr_matrix((np.ones(len(row), dtype=np.float32), (row, column)), shape=(height, n))

    _, ends = _row_entries(graph.ends, np.array([x]))
    first, middle = ends[ends % n != y] // n, ends[ends % n != y] % n
    walk, ends = _row_entries(graph.ends, middle)
    apart = ends % n != x
    steps = first[walk[apart]] * count + ends[apart] // n
    return matrix(first, middle, count), matrix(steps, ends[apart] % n, count * count)


def _row_entries(matrix: csr_matrix, rows: Ints) -> tuple[Ints, Ints]:
    """The entries of some rows, one after the other: for each its place in `rows`, and its column."""
    which, entry = csr_entries(matrix.indptr, rows)
    return which, matrix.indices[entry].astype(np.int64)


def _per_constant(reached: csr_matrix) -> Ints:
    """How many sequences of steps reach each constant: [n]."""
    return np.bincount(reached.indices, minlength=reached.shape[1])


def _codes(graph: Graph, out: Ints, back: NDArray[np.integer], length: int) -> Ints:
    """Chains as numbers in base S: two steps out, and then the steps back turned round."""
    count, codes = graph.n_steps, out
    for _ in range(length - 2):
        codes = codes * count + (back % count + len(graph.relations)) % count
        back = back // count
    return codes


def _most_common(
    graph: Graph, times: Counter[int], length: int, plan: CompletionPlan
) -> list[tuple[Body, int]]:
    """The chains that connect most facts, and how many facts each connects."""
    count = graph.n_steps
    chosen: list[tuple[Body, int]] = []
    for code, found in times.most_common():
        if found < plan.config.support or len(chosen) == plan.chains:
            break
        steps = tuple(code // count**place % count for place in reversed(range(length)))
        if length < 4 or _onward(graph, steps)[0].sum() <= plan.config.sizes.walks:
            chosen.append((Body("path", steps), found))
    return chosen


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
        step, end, c = body.steps
        other = graph.steps[graph.inverse(step)][end].indices.astype(np.int64)
        other = other[other != c]
        keys = np.sort(other * graph.n + c if body.shape == "to" else c * graph.n + other)
        return keys, np.ones(len(keys), dtype=np.float32)
    if body.shape == "both":
        one, two = (graph.steps[step] for step in body.steps)
        matrix = one.multiply(two).tocsr()
    else:
        matrix = chain_groundings(graph, body.steps)
    matrix.sort_indices()
    entries = matrix.tocoo()
    apart = entries.row != entries.col
    keys = entries.row[apart].astype(np.int64) * graph.n + entries.col[apart]
    return keys, entries.data[apart].astype(np.float32)


def chain_groundings(graph: Graph, steps: tuple[int, ...]) -> csr_matrix:
    """In how many ways a chain leads from X to Y over distinct constants: [n, n].

    X = Y is not left out of chains of up to three steps.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> facts = FactBase.from_facts(map(parse_atom, ["p(a, b)", "p(b, c)", "p(c, d)", "p(d, c)"]))
    >>> chain_groundings(Graph.of(facts), (0, 0, 0)).toarray()[0].tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    matrices = [graph.steps[step] for step in steps]
    if len(steps) < 3:
        return matrices[0] if len(steps) == 1 else matrices[0] @ matrices[1]
    if len(steps) > 3:
        return _walked(graph, steps)
    one, two, three = matrices
    inner = one @ two
    walks = (inner - diags(inner.diagonal(), format="csr")) @ three  # W is not X
    # Less those where Z is Y; of these, W = X is gone already.
    closed = np.asarray(two.multiply(three.T).sum(axis=1)).ravel()  # [n], ways from y over w back to y
    walks = walks - one @ diags(closed) + one.multiply(two.T).multiply(three)
    found = csr_matrix(walks)
    found.eliminate_zeros()
    return found


def _walked(graph: Graph, steps: tuple[int, ...]) -> csr_matrix:
    """The same by listing walks: corrections of matrix products have too many cases for longer chains."""
    onward = _onward(graph, steps)
    walks = [np.flatnonzero(onward[0])]  # constants at each place of all walks so far, [walks] each
    for step, rest in zip(steps, onward[1:], strict=True):
        walk, end = _row_entries(graph.steps[step], walks[-1])
        keep = rest[end] > 0
        for before in walks[:-1]:
            keep &= before[walk] != end
        walks = [*(before[walk[keep]] for before in walks), end[keep]]
    shape = (graph.n, graph.n)
    return csr_matrix((np.ones(len(walks[0]), dtype=np.float32), (walks[0], walks[-1])), shape=shape)


def _onward(graph: Graph, steps: tuple[int, ...]) -> list[Floats]:
    """For each place of a chain, how many walks lead from a constant there to the end: [n] each."""
    onward = [np.ones(graph.n)]
    for step in reversed(steps):
        onward.append(graph.steps[step] @ onward[-1])
    return onward[::-1]
