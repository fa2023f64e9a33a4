"""Newton's method for convex losses with an L2 penalty."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.sparse import diags
from scipy.sparse.linalg import LinearOperator, cg

from andre.arrays import Bools, Floats
from andre.limits import check

#: Weights count as learned when no entry of the gradient that could still move a weight is larger.
TOLERANCE = 1e-8
_STEPS = 200  #: at most; about ten are usual
#: A step shortened to less than this is short. After so many in a row, further ones gain nothing: the loss
#: bends more sharply right ahead than its second derivatives show.
_SHORT, _STUCK = 1e-3, 3


class Curvature(Protocol):
    """The Hessian of a loss at some weights: as a matrix, or by its products with vectors."""

    def table(self) -> Floats:
        """The Hessian, [K, K]."""

    def times(self, vector: Floats) -> Floats:
        """Its product with a vector, [K]."""

    def bound(self) -> Floats:
        """An upper bound of its diagonal, [K]."""


class Loss(Protocol):
    """A convex function of K weights with two derivatives."""

    @property
    def pairs(self) -> int:
        """How many products computing the Hessian of sparse inputs takes; 0 if they are dense."""

    def __call__(self, weights: Floats) -> tuple[float, Floats]:
        """The loss and its gradient."""

    def curvature(self, weights: Floats) -> Curvature:
        """The second derivatives of the loss at some weights."""


def fit_weights(
    loss: Loss,
    penalties: Floats,
    start: Floats,
    *,
    non_negative: bool = False,
    pairs: int = 100_000_000,
    tolerance: float = TOLERANCE,
) -> Floats:
    """Minimise the loss plus `penalties * weights ** 2` by Newton's method: the weights, [K].

    It ends when no entry of the gradient exceeds `tolerance` in size, except for weights
    that are zero and must not become negative; or when steps remain too short to gain anything.

    Parameters
    ----------
    penalties
        [K], above zero.
    start
        [K], the initial weights.
    non_negative
        Whether no weight may be below zero.
    pairs
        Up to how many `loss.pairs` the Hessian is computed and decomposed, not only multiplied by.
    tolerance
        The size of the gradient to end at.
    """
    least = 0.0 if non_negative else -np.inf

    def objective(weights: Floats) -> tuple[float, Floats]:
        check()
        value, slope = loss(weights)
        return value + float(penalties @ weights**2), slope + 2 * penalties * weights

    weights = np.maximum(start, least)
    value, slope = objective(weights)
    # A decomposition is used again as long as it reduces the gradient; conjugate gradients need the newest.
    newton: type[Decomposed | Conjugate] = Decomposed if loss.pairs <= pairs else Conjugate
    progress = 0.4 if newton is Decomposed else 0.0
    steps, steepness, short = None, np.inf, 0
    for _ in range(_STEPS):
        before, steepness = steepness, np.abs(weights - np.maximum(weights - slope, least)).max(initial=0.0)
        if steepness <= tolerance:
            break
        if steps is None or steepness > progress * before:
            steps = newton(loss, penalties, weights)
        # Bertsekas (1982): weights close to their bound move independently of the others.
        held = (weights <= min(1e-3, steepness)) & (slope > 0) & non_negative
        step, length = steps.step(slope, held), 1.0
        while True:
            tried = np.maximum(weights + length * step, least)
            new_value, new_slope = objective(tried)
            # Near the minimum, the gain is smaller than the rounding error.
            if new_value <= value - 1e-4 * slope @ (weights - tried) + 1e-13 * abs(value) or length < 1e-9:
                break
            length /= 2
        weights, value, slope = tried, new_value, new_slope
        short = short + 1 if length < _SHORT else 0
        if short == _STUCK:
            break
    return weights


class Cholesky:
    """A positive definite table as the product of two triangles, by which equations are solved.

    SciPy's own functions look at many cases first, which takes longer than to decompose a small table.

    Examples
    --------
    >>> Cholesky(np.array([[4.0, 2.0], [2.0, 3.0]])).solve(np.array([8.0, 8.0]))
    array([1., 2.])
    """

    def __init__(self, table: Floats) -> None:
        self._triangle: Floats
        self._triangle, failed = dpotrf(table) if len(table) else (table, 0)  # LAPACK knows no empty one
        if failed:
            raise np.linalg.LinAlgError("the table is not positive definite")

    def solve(self, values: Floats) -> Floats:
        """What the table makes these values of, [K] or [K, columns]."""
        if not len(values):
            return values
        return np.asarray(dpotrs(self._triangle, values)[0]).reshape(values.shape)


class Decomposed:
    """Newton steps by a Cholesky decomposition, which can be used again for nearby weights.

    Computing and decomposing the Hessian takes most of the time of a fit.
    """

    def __init__(self, loss: Loss, penalties: Floats, weights: Floats) -> None:
        self._table = loss.curvature(weights).table()
        self._table[np.diag_indices(len(weights))] += 2 * penalties
        self._free: tuple[NDArray[np.intp], Cholesky] | None = None

    def step(self, slope: Floats, held: Bools) -> Floats:
        """The step for a gradient, [K]; weights in `held` move independently of the others."""
        free = np.flatnonzero(~held)
        if self._free is None or not np.array_equal(self._free[0], free):
            self._free = free, Cholesky(self._table[np.ix_(free, free)])
        step = -slope / np.diag(self._table)
        step[free] = -self._free[1].solve(slope[free])
        return step


class Conjugate:
    """Newton steps by conjugate gradients, to a relative error of 1%, without computing the Hessian."""

    def __init__(self, loss: Loss, penalties: Floats, weights: Floats) -> None:
        self._curvature, self._penalties = loss.curvature(weights), penalties
        self._scale = self._curvature.bound() + 2 * penalties

    def step(self, slope: Floats, held: Bools) -> Floats:
        """The step for a gradient, [K]; weights in `held` move independently of the others."""
        size = len(slope)

        def product(vector: NDArray[Any]) -> Floats:
            free = np.where(held, 0, vector.ravel())
            return np.where(held, 0, self._curvature.times(free) + 2 * self._penalties * free)

        table = LinearOperator((size, size), matvec=product, dtype=np.float64)
        free, _ = cg(table, np.where(held, 0, -slope), rtol=1e-2, maxiter=10 * size, M=diags(1 / self._scale))
        return np.where(held, -slope / self._scale, free)
