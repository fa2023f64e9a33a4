"""Products of truth tables with variables summed out, for arrays of numpy and tensors of torch alike.

Over few constants a literal is a table with one axis per variable, and a body
is the product of its tables with the variables that the head does not have
summed out: for two literals that share one variable, a matrix product. The
order of the products decides how large the tables in between become.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from string import ascii_letters
from typing import Any, TypeAlias

#: `einsum` of numpy or torch.
Einsum: TypeAlias = Callable[..., Any]

_BATCH, _LETTERS = ascii_letters[0], ascii_letters[1:]
#: `einsum` names axes by letters, and one letter is kept for the batch.
MOST_VARIABLES = len(_LETTERS)


@dataclass(frozen=True, eq=False)
class Factor:
    """A table over some variables; with `batch`, its first axis goes over several programs."""

    variables: tuple[int, ...]  #: ascending, one per axis after the batch
    table: Any
    batch: bool = False


@dataclass(frozen=True)
class _Step:
    """Tables to multiply, and the variables that their product keeps."""

    operands: tuple[int, ...]  #: places in the list of tables, to which the product is added
    kept: tuple[int, ...]


@dataclass(frozen=True)
class Contraction:
    """The order in which tables are multiplied, those first whose product is smallest.

    Examples
    --------
    >>> import numpy as np
    >>> edges = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    >>> two_steps = Contraction.of([(0, 2), (1, 2)], wanted=(0, 1))
    >>> two_steps.work, two_steps.run([Factor((0, 2), edges), Factor((1, 2), edges.T)], np.einsum).tolist()
    (3, [[0, 0, 1], [0, 0, 0], [0, 0, 0]])
    """

    steps: tuple[_Step, ...]
    work: int  #: the most variables that one product goes over

    @classmethod
    def of(
        cls, scopes: Sequence[Collection[int]], wanted: Collection[int], batched: Collection[int] = ()
    ) -> Contraction:
        """Plan the products of tables over these variables, down to a table over the wanted ones.

        Parameters
        ----------
        scopes
            The variables of each table, at least one table; each wanted variable is in one of them.
        batched
            The places of tables that have a batch: these are multiplied late.
        """
        scope = {place: frozenset(variables) for place, variables in enumerate(scopes)}
        live, has_batch, target = list(scope), set(batched), frozenset(wanted)
        steps: list[_Step] = []

        def needed(*operands: int) -> frozenset[int]:
            """The variables of these tables that the result or another table has too."""
            mine = frozenset().union(*(scope[place] for place in operands))
            others = frozenset().union(*(scope[place] for place in live if place not in operands))
            return mine & (others | target)

        def multiply(*operands: int) -> None:
            place = len(scope)
            scope[place] = needed(*operands)
            if not has_batch.isdisjoint(operands):
                has_batch.add(place)
            live[:] = [other for other in live if other not in operands] + [place]
            steps.append(_Step(operands, tuple(sorted(scope[place]))))

        for place in list(live):
            if needed(place) != scope[place]:
                multiply(place)
        while len(live) > 1:
            pairs = combinations(sorted(live), 2)
            multiply(*min(pairs, key=lambda pair: (len(needed(*pair)), not has_batch.isdisjoint(pair), pair)))
        work = [len(frozenset().union(*(scope[place] for place in step.operands))) for step in steps]
        return cls(tuple(steps), max([*work, *map(len, scopes)], default=0))

    def run(self, factors: Sequence[Factor], einsum: Einsum, cut: Callable[[Any], Any] | None = None) -> Any:
        """Multiply the tables; `cut` is applied to each product, to keep truth values 0 and 1."""
        tables = list(factors)
        for step in self.steps:
            chosen = [tables[place] for place in step.operands]
            batch = any(factor.batch for factor in chosen)
            read = ",".join(axes_of(factor.variables, factor.batch) for factor in chosen)
            table = einsum(f"{read}->{axes_of(step.kept, batch)}", *(factor.table for factor in chosen))
            tables.append(Factor(step.kept, table if cut is None else cut(table), batch))
        return tables[-1].table


def axes_of(variables: Sequence[int], batch: bool) -> str:
    """The axes of a table as `einsum` writes them."""
    return (_BATCH if batch else "") + "".join(_LETTERS[variable] for variable in variables)
