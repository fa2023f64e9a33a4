"""Pooling: the soft or over the rows of an example during training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from andre.model.operators import Operator
from andre.samples import Membership


@dataclass(frozen=True, eq=False)
class Pooling:
    """The rows of each example, and the examples of each row, so that neither pass needs scatter operations.

    Examples
    --------
    >>> import numpy as np
    >>> from andre.model.operators import SoftmaxAttention
    >>> pooling = Pooling.of(Membership(np.array([0, 2, 3]), np.array([0, 2, 1])), n_rows=3)
    >>> pooling(torch.tensor([[0.0], [0.2], [0.9]]), SoftmaxAttention(20))
    tensor([[0.9000],
            [0.2000]])
    """

    rows: Tensor  #: [E] rows, example by example
    starts: Tensor  #: [B] where the rows of an example begin
    sizes: Tensor  #: [B, 1] how many rows it has
    examples: Tensor  #: [E] examples, row by row
    row_starts: Tensor  #: [U] where the examples of a row begin

    @classmethod
    def of(cls, members: Membership, n_rows: int, device: torch.device | str = "cpu") -> Pooling:
        """Prepare both directions."""
        rows, starts = torch.as_tensor(members.rows), torch.as_tensor(members.starts)
        sizes = starts.diff()
        owner = torch.repeat_interleave(torch.arange(len(sizes)), sizes)
        counts = torch.bincount(rows, minlength=n_rows)
        return cls(
            rows=rows.to(device),
            starts=starts[:-1].to(device),
            sizes=sizes[:, None].to(device),
            examples=owner[torch.argsort(rows, stable=True)].to(device),
            row_starts=(counts.cumsum(0) - counts).to(device),
        )

    def __call__(self, values: Tensor, op: Operator) -> Tensor:
        """The or over the rows of every example: from [U, K] to [B, K]."""
        if op.needs_origin:  # too sharp for a shift that all examples share, so every entry is visited
            entries = values[self.rows]  # [E, K]
            highest = embedding_bag(self.rows, values.detach(), self.starts, mode="max")  # [B, K]
            terms = op.terms(entries, highest.repeat_interleave(self.sizes[:, 0], 0))
            every = torch.arange(len(entries), device=entries.device)
            sums = [embedding_bag(every, term, self.starts, mode="sum") for term in terms]
            return op.finish(tuple(sums), self.sizes, highest)
        pooled = _Pool.apply(torch.cat(op.terms(values), dim=1), self)  # type: ignore[no-untyped-call]
        return op.finish(tuple(pooled.split(values.shape[1], dim=1)), self.sizes)


class _Pool(torch.autograd.Function):
    """Sums over the rows of every example, [U, w] -> [B, w]."""

    @staticmethod
    def forward(ctx: Any, terms: Tensor, pooling: Pooling) -> Tensor:
        ctx.pooling = pooling
        return embedding_bag(pooling.rows, terms.contiguous(), pooling.starts, mode="sum")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        pooling = ctx.pooling
        grads = embedding_bag(pooling.examples, grad_outputs[0].contiguous(), pooling.row_starts, mode="sum")
        return grads, None
