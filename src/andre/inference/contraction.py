"""Products of truth tables with variables summed out.

With few constants a literal is a table with one axis per variable, and a body
is the product of its tables with the variables that the head does not have
summed out: for two literals that share one variable, a matrix product. The
order of the products decides how large the intermediate tables become.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from string import ascii_letters
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: Truth values, or how often something holds.
Table: TypeAlias = NDArray[Any]

_BATCH, _LETTERS = ascii_letters[0], ascii_letters[1:]
#: `einsum` names axes by letters, and one letter is kept for the batch.
MOST_VARIABLES = len(_LETTERS)


def axes_of(variables: Iterable[int], *, batch: bool = False) -> str:
    """The axes of a table as `einsum` writes them; with `batch`, the first axis is for several programs.

    Examples
    --------
    >>> axes_of((0, 2), batch=True)
    'abd'
    """
    return (_BATCH if batch else "") + "".join(_LETTERS[variable] for variable in variables)


@dataclass(frozen=True)
class Contraction:
    """The order in which tables are multiplied, smallest product first.

    Examples
    --------
    >>> edges = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    >>> two_steps = Contraction.of([(0, 2), (1, 2)], wanted=(0, 1))
    >>> two_steps.steps, two_steps.work
    ((((0, 1), 'bd,cd->bc'),), 3)
    >>> two_steps.run([edges, edges.T]).tolist()
    [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
    """

    #: Places in the list of tables, and how `einsum` multiplies these; the product is added to the list.
    steps: tuple[tuple[tuple[int, ...], str], ...]
    work: int  #: the largest number of variables in a single product

    @classmethod
    def of(
        cls, scopes: Sequence[Iterable[int]], wanted: Iterable[int], batched: Collection[int] = ()
    ) -> Contraction:
        """Plan the products of tables over these variables that lead to a table over the wanted ones.

        Parameters
        ----------
        scopes
            The variables of each table, ascending, one per axis; each wanted variable is in one of them.
        batched
            The places of tables that have a batch: these are multiplied late.
        """
        scope = {place: frozenset(variables) for place, variables in enumerate(scopes)}
        live, has_batch, target = list(scope), set(batched), frozenset(wanted)
        steps: list[tuple[tuple[int, ...], str]] = []
        work = [len(variables) for variables in scope.values()]

        def needed(*operands: int) -> frozenset[int]:
            """The variables of these tables that the result or another table also has."""
            mine = frozenset().union(*(scope[place] for place in operands))
            others = frozenset().union(*(scope[place] for place in live if place not in operands))
            return mine & (others | target)

        def axes(place: int) -> str:
            return axes_of(sorted(scope[place]), batch=place in has_batch)

        def multiply(*operands: int) -> None:
            place = len(scope)
            scope[place] = needed(*operands)
            if not has_batch.isdisjoint(operands):
                has_batch.add(place)
            live[:] = [other for other in live if other not in operands] + [place]
            steps.append((operands, f"{','.join(map(axes, operands))}->{axes(place)}"))
            work.append(len(frozenset().union(*(scope[operand] for operand in operands))))

        for place in list(live):
            if needed(place) != scope[place]:
                multiply(place)
        while len(live) > 1:
            pairs = combinations(sorted(live), 2)
            multiply(*min(pairs, key=lambda pair: (len(needed(*pair)), not has_batch.isdisjoint(pair), pair)))
        return cls(tuple(steps), max(work, default=0))

    def run(self, tables: Sequence[Table], cut: Callable[[Table], Table] | None = None) -> Table:
        """Multiply the tables; `cut` is applied to each product, to keep truth values 0 and 1."""
        made = list(tables)
        for operands, subscripts in self.steps:
            product = multiplied(subscripts, *(made[place] for place in operands))
            made.append(product if cut is None else cut(product))
        return made[-1]


def multiplied(subscripts: str, *tables: Table) -> Table:
    """`einsum` of one or two tables, as a matrix product where possible, which is faster.

    Examples
    --------
    >>> left, right = np.arange(12).reshape(2, 2, 3), np.arange(6).reshape(2, 3)
    >>> (multiplied("abd,cd->abc", left, right) == np.einsum("abd,cd->abc", left, right)).all()
    np.True_
    """
    operands, wanted = subscripts.split("->")
    if len(tables) != 2:
        return np.asarray(np.einsum(subscripts, *tables))
    first, second = operands.split(",")
    both = [axis for axis in first if axis in second]
    kept, summed = ([axis for axis in both if (axis in wanted) == stays] for stays in (True, False))
    rows, columns = ([axis for axis in own if axis not in both] for own in (first, second))
    if not summed or not (rows or columns) or not {*rows, *columns} <= {*wanted}:
        return np.asarray(np.einsum(subscripts, *tables))
    sizes = dict(zip(first + second, (*tables[0].shape, *tables[1].shape), strict=True))

    def arranged(table: Table, axes: str, *groups: list[str]) -> Table:
        """A table with its axes in an order, [kept..., one for each group]."""
        order = [axes.index(axis) for axis in (*kept, *(axis for group in groups for axis in group))]
        lengths = (math.prod(sizes[axis] for axis in group) for group in groups)
        return table.transpose(order).reshape(*(sizes[axis] for axis in kept), *lengths)

    with np.errstate(invalid="ignore"):  # BLAS may read memory beside small matrices
        product = arranged(tables[0], first, rows, summed) @ arranged(tables[1], second, summed, columns)
    axes = [*kept, *rows, *columns]
    product = product.reshape([sizes[axis] for axis in axes])
    return product.transpose([axes.index(axis) for axis in wanted])
