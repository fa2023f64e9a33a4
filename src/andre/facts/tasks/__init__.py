"""Built-in tasks: the ten of the paper's appendix H, made sound, and ∂ILP's twenty, with few facts.

Of the ten, relations and head variables are the paper's. Domains are larger than its own,
so that every rule of a correct program has at least thirty positives; only the
base case of `even` cannot, for there is one zero. What the paper prints
unsoundly is defined so that a correct program exists: `lessThan` has its base
case the right way round, every child in `son` has a sibling, and
`connectedness` is the closure of edges in both directions. Of the twenty,
see `few.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from andre.facts.tasks.families import FATHER, GRANDPARENT, RELATEDNESS, SON
from andre.facts.tasks.few import FEW
from andre.facts.tasks.graphs import CONNECTEDNESS, DIRECTED_EDGE
from andre.facts.tasks.numbers import EVEN, LESS_THAN, ODD, PREDECESSOR
from andre.facts.tasks.task import Task

__all__ = ["CLASSICAL_TASKS", "FEW_TASKS", "TASKS", "Task"]

#: The tasks of the paper by name, in its order.
CLASSICAL_TASKS: Mapping[str, Task] = MappingProxyType(
    {
        task.name: task
        for task in (
            PREDECESSOR,
            ODD,
            EVEN,
            LESS_THAN,
            GRANDPARENT,
            SON,
            RELATEDNESS,
            FATHER,
            DIRECTED_EDGE,
            CONNECTEDNESS,
        )
    }
)

#: The tasks of ∂ILP by name, in its order.
FEW_TASKS: Mapping[str, Task] = MappingProxyType({task.name: task for task in FEW})

#: All tasks by name.
TASKS: Mapping[str, Task] = MappingProxyType({**CLASSICAL_TASKS, **FEW_TASKS})
