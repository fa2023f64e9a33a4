"""Fractional columns on a CUDA device: the softmin in one pass over the valuations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

from andre.model.conjunction import Direct, features

#: Floats that one block of the direct form holds on a card, which has no cache to stay in.
_BLOCK = 1 << 26


@cache
def can_fuse(device: torch.device) -> bool:
    """Whether kernels can be compiled for a device: it is a CUDA device, and Triton is installed.

    Examples
    --------
    >>> can_fuse(torch.device("cpu"))
    False
    """
    return device.type == "cuda" and find_spec("triton") is not None


@dataclass(frozen=True, eq=False)
class Fused:
    """Columns that are visited row by row, without a number in memory for what is computed on the way."""

    columns: Tensor  #: [c]
    values: Tensor  #: [c, U], NaN for unknown
    known: bool = False  #: whether it is certain that none is unknown

    @property
    def n_visited(self) -> int:
        """How many values a pass works through for one subrule."""
        return self.values.numel()

    def rows(self, index: Tensor | slice) -> Fused:
        """The same columns for some of the rows."""
        return Fused(self.columns, self.values[:, index], self.known)

    def visited(self) -> Direct:
        """The same columns for operators that no kernel is written for."""
        return Direct(self.columns, features(self.values), _BLOCK)

    def sums(self, coefs: Tensor, beta: float, origin: Tensor | None) -> tuple[Tensor, Tensor]:
        """The two sums of the softmin over the columns, [U, R] each.

        Parameters
        ----------
        coefs
            Coefficients of these columns, [c, 4, R].
        beta
            The sharpness.
        origin
            What values are shifted by, [U, R].
        """
        found: tuple[Tensor, Tensor] = _SoftminSums.apply(coefs, self, beta, origin)  # type: ignore[no-untyped-call]
        return found

    def least(self, coefs: Tensor) -> Tensor:
        """The smallest value of every row in every subrule, [U, R]."""
        from andre.model import kernels  # noqa: PLC0415  (Triton is there where there is a card)

        return kernels.least(self.values, coefs)


class _SoftminSums(torch.autograd.Function):
    """The kernels as a function that can be differentiated."""

    @staticmethod
    def forward(
        ctx: Any, coefs: Tensor, part: Fused, beta: float, origin: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        from andre.model import kernels  # noqa: PLC0415

        ctx.save_for_backward(coefs, *(() if origin is None else (origin,)))
        ctx.part, ctx.beta = part, beta
        return kernels.softmin_sums(part.values, coefs, beta, origin, known=part.known)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        from andre.model import kernels  # noqa: PLC0415

        coefs, *origin = ctx.saved_tensors
        found = kernels.softmin_gradient(
            ctx.part.values,
            coefs,
            ctx.beta,
            origin[0] if origin else None,
            (grad_outputs[0], grad_outputs[1]),
            known=ctx.part.known,
        )
        return found, None, None, None
