"""Kernels of the softmin for CUDA, written in Triton; imported where both are there.

A term of the softmin is exp(-beta B), and B, the soft valuation of an atom in a
subrule, is a sum of products of features and coefficients. What is kept in
memory is one valuation a row and atom, the coefficients of an atom and subrule,
and two sums a row and subrule; B and its exponential live in registers.

Coefficients are scaled by -beta / ln 2 beforehand, so that a term is a power of
two, which is what the hardware computes. Where no valuation is unknown, B is a
polynomial of the second degree in it, which takes two multiplications and no
comparison: what is left is little more than the exponential.

Sharp attention is shifted by the smallest B. The difference, times a beta of a
thousand, needs more digits than single precision has, so there B is computed in
double precision, and only the exponential is not.
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

#: Rows and subrules of a program of the forward pass, and columns and subrules of one of the backward pass.
_ROWS, _RULES, _COLUMNS = 16, 64, 8
#: Warps of a program of either pass.
_FORWARD_WARPS, _BACKWARD_WARPS = 2, 4
#: Programs that the backward pass shares its rows out among, so that all of the device is at work.
_PROGRAMS = 16384
#: Rows that a program of the backward pass has at the least.
_FEWEST = 64
_LN2 = tl.constexpr(math.log(2))


@triton.jit  # type: ignore[untyped-decorator]
def _scaled(b, k0, k1, k2, k3, KNOWN: tl.constexpr):  # type: ignore[no-untyped-def]
    """The scaled B of a valuation, and the features beside 1 that it is a sum of; NaN is unknown."""
    if KNOWN:
        f1, f2, f3 = b, b * b, b
        z = (k2 * b + k1) * b + k0
    else:
        known = b == b  # noqa: PLR0124  (NaN is not)
        f1 = tl.where(known, b, 0.0)
        f2 = tl.where(known, 1.0 - b, 0.0)
        f3 = f1 * f2
        z = k0 + f1 * k1 + f2 * k2 + f3 * k3
    return f1, f2, f3, z


@triton.jit  # type: ignore[untyped-decorator]
def _forward(  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917
    values,
    coefs,
    origin,
    weight_sum,
    value_sum,
    n_rows,
    n_columns,
    n_rules,
    stride,
    per_scale,
    KNOWN: tl.constexpr,
    SHIFTED: tl.constexpr,
    LEAST: tl.constexpr,
    ROWS: tl.constexpr,
    RULES: tl.constexpr,
):
    """Sums of exp(-beta B) and of B exp(-beta B) over the columns; where LEAST, the smallest B alone.

    Where SHIFTED, B is less the origin, and coefficients and origin are in double precision.
    """
    u = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    r = tl.program_id(1) * RULES + tl.arange(0, RULES)
    in_u, in_r = u < n_rows, r < n_rules
    place = u.to(tl.int64)[:, None] * n_rules + r[None, :]
    inside = in_u[:, None] & in_r[None, :]
    total = tl.zeros((ROWS, RULES), dtype=tl.float32)
    weighted = tl.zeros((ROWS, RULES), dtype=tl.float32)
    if LEAST:
        total += float("-inf")
    shift = tl.load(origin + place, mask=inside, other=0.0) if SHIFTED else 0.0
    column, table = values + u, coefs + r
    for _ in range(n_columns):
        b = tl.load(column, mask=in_u, other=0.0)
        if SHIFTED:
            b = b.to(tl.float64)
        k0 = tl.load(table, mask=in_r, other=0.0)
        k1 = tl.load(table + n_rules, mask=in_r, other=0.0)
        k2 = tl.load(table + 2 * n_rules, mask=in_r, other=0.0)
        k3 = k2 if KNOWN else tl.load(table + 3 * n_rules, mask=in_r, other=0.0)
        _, _, _, z = _scaled(b[:, None], k0[None, :], k1[None, :], k2[None, :], k3[None, :], KNOWN)
        if LEAST:
            total = tl.maximum(total, z)  # the scale is negative
        else:
            if SHIFTED:
                z = (z - shift).to(tl.float32)
            w = tl.exp2(z)
            total += w
            weighted += w * z
        column += stride
        table += 3 * n_rules if KNOWN else 4 * n_rules
    tl.store(weight_sum + place, total, mask=inside)
    if not LEAST:
        tl.store(value_sum + place, weighted * per_scale, mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def _backward(  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917
    values,
    coefs,
    origin,
    weight_grad,
    value_grad,
    parts,
    n_rows,
    n_columns,
    n_rules,
    stride,
    beta,
    share,
    KNOWN: tl.constexpr,
    SHIFTED: tl.constexpr,
    COLUMNS: tl.constexpr,
    RULES: tl.constexpr,
):
    """What the coefficients of every column and subrule get from a share of the rows."""
    terms = 3 if KNOWN else 4
    c = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    r = tl.program_id(2) * RULES + tl.arange(0, RULES)
    in_c, in_r = c < n_columns, r < n_rules
    inside = in_c[:, None] & in_r[None, :]
    place = c[:, None] * (terms * n_rules) + r[None, :]
    k0 = tl.load(coefs + place, mask=inside, other=0.0)
    k1 = tl.load(coefs + place + n_rules, mask=inside, other=0.0)
    k2 = tl.load(coefs + place + 2 * n_rules, mask=inside, other=0.0)
    k3 = k2 if KNOWN else tl.load(coefs + place + 3 * n_rules, mask=inside, other=0.0)
    d0 = tl.zeros((COLUMNS, RULES), dtype=tl.float32)
    d1 = tl.zeros((COLUMNS, RULES), dtype=tl.float32)
    d2 = tl.zeros((COLUMNS, RULES), dtype=tl.float32)
    d3 = tl.zeros((COLUMNS, RULES), dtype=tl.float32)
    first = tl.program_id(0) * share
    last = tl.minimum(first + share, n_rows)
    column = values + c.to(tl.int64) * stride + first
    at = first.to(tl.int64) * n_rules + r
    for _ in range(first, last):
        b = tl.load(column, mask=in_c, other=0.0)
        if SHIFTED:
            b = b.to(tl.float64)
        of_weight = tl.load(weight_grad + at, mask=in_r, other=0.0)
        of_value = tl.load(value_grad + at, mask=in_r, other=0.0)
        f1, f2, f3, z = _scaled(b[:, None], k0, k1, k2, k3, KNOWN)
        even = of_value - beta * of_weight
        steep = of_value * _LN2  # -beta B is z ln 2
        if SHIFTED:
            z = (z - tl.load(origin + at, mask=in_r, other=0.0)[None, :]).to(tl.float32)
        d_b = tl.exp2(z) * (even[None, :] + z * steep[None, :])
        d0 += d_b
        d1 += d_b * f1.to(tl.float32)
        d2 += d_b * f2.to(tl.float32)
        if not KNOWN:
            d3 += d_b * f3.to(tl.float32)
        column += 1
        at += n_rules
    out = parts + tl.program_id(0).to(tl.int64) * (n_columns * terms * n_rules) + place
    tl.store(out, d0, mask=inside)
    tl.store(out + n_rules, d1, mask=inside)
    tl.store(out + 2 * n_rules, d2, mask=inside)
    if not KNOWN:
        tl.store(out + 3 * n_rules, d3, mask=inside)


def _scale(beta: float) -> float:
    return -beta / math.log(2)


def _prepared(coefs: Tensor, scale: float, *, known: bool) -> Tensor:
    """Scaled coefficients of the four features, [c, 4, R], or of 1, b and b squared, [c, 3, R]."""
    if not known:
        return (coefs * scale).contiguous()
    k0, k1, k2, k3 = (coefs * scale).unbind(1)
    return torch.stack((k0 + k2, k1 - k2 + k3, -k3), dim=1)


def _doubled(coefs: Tensor, origin: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Coefficients and the scaled origin in double precision."""
    return coefs.double(), (origin.double() * scale).contiguous()


def softmin_sums(
    values: Tensor, coefs: Tensor, beta: float, origin: Tensor | None, *, known: bool = False
) -> tuple[Tensor, Tensor]:
    """Sums over the columns of exp(-beta (B - origin)) and of B - origin times it, [U, R] each.

    Parameters
    ----------
    values
        Valuations, [c, U], each column contiguous; NaN is unknown.
    coefs
        As `andre.model.conjunction.coefficients` gives them, [c, 4, R].
    origin
        What B is shifted by, [U, R].
    known
        Whether no valuation is unknown.
    """
    (columns, rows), rules, scale = values.shape, coefs.shape[2], _scale(beta)
    total = coefs.new_empty(rows, rules)
    weighted = torch.empty_like(total)
    coefs, shift = (coefs, total) if origin is None else _doubled(coefs, origin, scale)
    _forward[_grid(rows, rules)](
        values, _prepared(coefs, scale, known=known), shift, total, weighted, rows, columns, rules,
        values.stride(0), 1 / scale,
        KNOWN=known, SHIFTED=origin is not None, LEAST=False, ROWS=_ROWS, RULES=_RULES,
        num_warps=_FORWARD_WARPS,
    )  # fmt: skip
    return total, weighted


def least(values: Tensor, coefs: Tensor) -> Tensor:
    """The smallest B of every row in every subrule, [U, R]; arguments as for `softmin_sums`."""
    (columns, rows), rules = values.shape, coefs.shape[2]
    found = coefs.new_empty(rows, rules)
    _forward[_grid(rows, rules)](
        values, (-coefs).contiguous(), found, found, found, rows, columns, rules,
        values.stride(0), 1.0,
        KNOWN=False, SHIFTED=False, LEAST=True, ROWS=_ROWS, RULES=_RULES,
        num_warps=_FORWARD_WARPS,
    )  # fmt: skip
    return found.neg_()


def softmin_gradient(
    values: Tensor,
    coefs: Tensor,
    beta: float,
    origin: Tensor | None,
    grads: tuple[Tensor, Tensor],
    *,
    known: bool = False,
) -> Tensor:
    """The gradient of the coefficients, [c, 4, R], from those of the two sums, [U, R] each.

    Every share of the rows has a place of its own, so that the same is added in the same order every time.
    """
    (columns, rows), rules, scale = values.shape, coefs.shape[2], _scale(beta)
    tiles = triton.cdiv(columns, _COLUMNS) * triton.cdiv(rules, _RULES)
    share = max(_FEWEST, triton.cdiv(rows, max(1, _PROGRAMS // tiles)))
    shares = triton.cdiv(rows, share)
    parts = coefs.new_empty(shares, columns, 3 if known else 4, rules)
    coefs, shift = (coefs, parts) if origin is None else _doubled(coefs, origin, scale)
    _backward[(shares, triton.cdiv(columns, _COLUMNS), triton.cdiv(rules, _RULES))](
        values, _prepared(coefs, scale, known=known), shift, grads[0].contiguous(), grads[1].contiguous(),
        parts, rows, columns, rules, values.stride(0), beta, share,
        KNOWN=known, SHIFTED=origin is not None, COLUMNS=_COLUMNS, RULES=_RULES,
        num_warps=_BACKWARD_WARPS,
    )  # fmt: skip
    found = parts.sum(0)
    if not known:
        return found
    one, b, square = found.unbind(1)
    return torch.stack((one, b, one - b, b - square), dim=1)  # 1, b, 1 - b and b (1 - b)


def _grid(rows: int, rules: int) -> tuple[int, int]:
    return triton.cdiv(rows, _ROWS), triton.cdiv(rules, _RULES)
