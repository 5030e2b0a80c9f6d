"""Matrix products with the flags of MatMul, and scaled dot product attention."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.interpreters.numerics.normalization import softmax

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class MatMulFlags:
    """Which operands arrive transposed, and whether dimension 2 is a batch dimension.

    With `hdim_is_batch` the operands are `[b, M, h, K]` and `[b, K, h, N]` and the result is
    `[b, M, h, N]`; a transposed right operand is then `[b, N, h, K]`.
    """

    left_transpose: bool = False
    right_transpose: bool = False
    output_transpose: bool = False
    hdim_is_batch: bool = False


def _swap_last(x: Array) -> Array:
    return x.swapaxes(-1, -2)


def _product(left: Array, right: Array) -> Array:
    """np.matmul, with one large product instead of many when the right side has no batch."""
    while right.ndim > 2 and right.shape[0] == 1 and left.ndim >= right.ndim:
        right = right[0]
    if right.ndim == 2 and left.ndim > 2:
        rows = left.reshape(-1, left.shape[-1])
        return np.matmul(rows, right).reshape(*left.shape[:-1], right.shape[1])
    return np.matmul(left, right)


def matmul(left: Array, right: Array, bias: Array | None, flags: MatMulFlags) -> Array:
    """`left @ right + bias` with numpy's batch broadcasting.

    A bias of N elements in any shape is added to every row. ValueError when sizes disagree.
    """
    if flags.hdim_is_batch:
        left, right = left.swapaxes(1, 2), right.swapaxes(1, 2)
    if flags.left_transpose:
        left = _swap_last(left)
    if flags.right_transpose:
        right = _swap_last(right)
    out = _product(left, right)
    if bias is not None:
        out += bias.reshape(-1) if bias.size == out.shape[-1] else bias
    if flags.output_transpose:
        out = _swap_last(out)
    return out.swapaxes(1, 2) if flags.hdim_is_batch else out


def attention(
    query: Array, key: Array, value: Array, mask: Array | None, scale: float, is_causal: bool
) -> Array:
    """softmax(query @ key^T * scale + mask) @ value; a scale of 0 stands for 1 / sqrt(dim)."""
    factor = scale or 1.0 / math.sqrt(query.shape[-1])
    scores = np.matmul(query, _swap_last(key)) * np.float32(factor)
    if mask is not None:
        scores = scores + mask
    if is_causal:
        future = np.triu(np.ones(scores.shape[-2:], bool), 1)
        scores = np.where(future, -np.inf, scores)
    return np.matmul(softmax(scores, -1), value)
