"""Tasks on the numbers from 0 to some last one, given by zero/1 and successor/2."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import product

import numpy as np

from andre.facts.base import FactBase
from andre.facts.tasks.task import Domain, Task, facts_of_rows

_BACKGROUND = ("successor/2", "zero/1")

# The last number has no successor. That of `odd` is odd and that of `even` is even: otherwise the
# rule that counts down from it, `odd(X) :- successor(X, Y), \+ odd(Y)`, would hold by accident.


def _numbers(
    name: str,
    holds: Callable[..., bool],
    arity: int,
    last: int,
    steps: Mapping[str, int],
    rng: np.random.Generator,
) -> FactBase:
    """The facts about 0, ..., last, which are the same for every seed."""
    del rng
    numbers = range(last + 1)
    return facts_of_rows(
        numbers,
        {
            name: [row for row in product(numbers, repeat=arity) if holds(*row)],
            "successor": [(number, number + 1) for number in range(last)],
            "zero": [(0,)],
            **{
                step: [(number, number + size) for number in range(last + 1 - size)]
                for step, size in steps.items()
            },
        },
    )


def number_domains(
    name: str, holds: Callable[..., bool], arity: int, lasts: tuple[int, int], **steps: int
) -> tuple[Domain, Domain]:
    """The numbers up to each of two last ones; steps are further relations between X and X + size."""
    one, other = (partial(_numbers, name, holds, arity, last, steps) for last in lasts)
    return one, other


PREDECESSOR = Task(
    name="predecessor",
    summary="A number's predecessor, as the paper writes it: predecessor(1, 0).",
    target="predecessor/2",
    variables=2,
    background=_BACKGROUND,
    definition="predecessor(X, Y) :- successor(Y, X).",
    domains=number_domains("predecessor", lambda x, y: x == y + 1, 2, (40, 130)),
)

ODD = Task(
    name="odd",
    summary="Odd numbers, by recursion along successors.",
    target="odd/1",
    variables=3,
    background=_BACKGROUND,
    definition="odd(X) :- successor(Y, X), \\+ odd(Y).",
    domains=number_domains("odd", lambda x: x % 2 == 1, 1, (65, 201)),
)

EVEN = Task(
    name="even",
    summary="Even numbers, from zero by recursion along successors.",
    target="even/1",
    variables=3,
    background=_BACKGROUND,
    definition="even(X) :- zero(X). even(X) :- successor(Y, X), \\+ even(Y).",
    domains=number_domains("even", lambda x: x % 2 == 0, 1, (64, 200)),
)

LESS_THAN = Task(
    name="lessThan",
    summary="The order of numbers, as the closure of successor (the paper prints its base case reversed).",
    target="lessThan/2",
    variables=3,
    background=_BACKGROUND,
    definition="lessThan(X, Y) :- successor(X, Y). lessThan(X, Y) :- successor(X, Z), lessThan(Z, Y).",
    domains=number_domains("lessThan", lambda x, y: x < y, 2, (32, 104)),
)
