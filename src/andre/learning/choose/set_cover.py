"""Set covers of least cost: which rules to take together, decided by an integer program."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools, Floats
from andre.limits import time_left

#: Seconds that an integer program may take.
_SECONDS = 5.0


def least_cover(covers: Bools, sizes: NDArray[np.intp], max_rules: int) -> NDArray[np.intp] | None:
    """The rules that cover everything in the fewest literals and rules; None where too many are needed.

    Parameters
    ----------
    covers
        What each rule covers, [rules, things].
    sizes
        Literals of each rule, [rules].

    Examples
    --------
    >>> covers = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 1]], dtype=bool)
    >>> least_cover(covers, np.array([1, 1, 2]), max_rules=2)
    array([0, 1])
    """
    whole = np.flatnonzero(covers.all(axis=1))
    if len(whole):
        return whole[[int(np.argmin(sizes[whole]))]]
    return cheapest_cover(covers, np.full(covers.shape[1], np.inf), sizes.astype(np.float64) + 1, max_rules)


def cheapest_cover(
    covers: Bools, worth: Floats, costs: Floats, max_rules: int, seconds: float = _SECONDS
) -> NDArray[np.intp] | None:
    """The rules with the least cost, where what is not covered, or should not be and is, costs too.

    None where no such rules were found in time.

    Parameters
    ----------
    covers
        What each rule covers, [rules, things].
    worth
        What it is worth to cover each thing, [things]: infinite where it must be covered, negative where
        it should not be.
    costs
        Of the rules, [rules].
    seconds
        How long the search may take.

    Examples
    --------
    >>> covers = np.array([[1, 1, 0], [0, 1, 1]], dtype=bool)
    >>> cheapest_cover(covers, np.array([3.0, 3.0, -2.0]), np.array([1.0, 1.0]), max_rules=2)
    array([0])
    """
    from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415  (slow to load)
    from scipy.sparse import csr_array, diags_array, hstack  # noqa: PLC0415

    n, must = len(covers), np.isinf(worth)
    wanted, unwanted = (worth > 0) & ~must, worth < 0
    table = csr_array(covers.T.astype(np.float64))  # [things, rules]
    n_wanted, n_unwanted = np.count_nonzero(wanted), np.count_nonzero(unwanted)
    nothing = csr_array((int(must.sum()), n_wanted + n_unwanted))
    # A thing that is not covered is a mistake; and each that should not be, of as many rules as cover it.
    missed = hstack([table[wanted], diags_array(np.ones(n_wanted)), csr_array((n_wanted, n_unwanted))])
    many = diags_array(np.maximum(1.0, covers[:, unwanted].sum(axis=0).astype(np.float64)))
    fouled = hstack([-table[unwanted], csr_array((n_unwanted, n_wanted)), many])
    constraints = [
        LinearConstraint(np.append(np.ones(n), np.zeros(n_wanted + n_unwanted))[None], ub=max_rules)
    ]
    if must.any():
        constraints.append(LinearConstraint(hstack([table[must], nothing]), lb=1.0))
    if n_wanted:
        constraints.append(LinearConstraint(missed, lb=1.0))
    if n_unwanted:
        constraints.append(LinearConstraint(fouled, lb=0.0))
    answer = milp(
        np.concatenate([costs, worth[wanted], -worth[unwanted]]),
        integrality=np.concatenate([np.ones(n), np.zeros(n_wanted), np.ones(n_unwanted)]),
        bounds=Bounds(0, 1),
        constraints=constraints,
        options={"time_limit": min(seconds, max(1.0, time_left().left))},
    )
    return None if answer.x is None else np.flatnonzero(answer.x[:n] > 0.5)
