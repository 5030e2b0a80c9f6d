"""Matrix products."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters.call import Call
from xdsl_tpu.dialects.interpreters.numerics.linear import MatMulFlags, attention, matmul
from xdsl_tpu.dialects.interpreters.numerics.normalization import softmax
from xdsl_tpu.dialects.interpreters.registry import Rules

Array = npt.NDArray[Any]


def matrix_product(call: Call) -> Array:
    """input @ right + bias; without `keep_dims` all rows become one dimension."""
    flags = MatMulFlags(
        call.flag("left_transpose"),
        call.flag("right_transpose"),
        call.flag("output_transpose"),
        call.flag("hdim_is_batch"),
    )
    out = matmul(call.tensor(), call.tensor(1), call.optional(2), flags)
    if call.shape() is None and not call.flag("keep_dims"):
        return out.reshape(-1, out.shape[-1])
    return call.shaped(out)


def einsum(call: Call) -> Array:
    """The equation in `mode`."""
    return np.einsum(call.text("mode"), *call.tensors(), optimize=True)


def dot_product_attention(call: Call) -> Array:
    """softmax(q k^T * scale + mask) v."""
    return attention(
        call.tensor(0),
        call.tensor(1),
        call.tensor(2),
        call.optional(3),
        call.number("scale"),
        call.flag("is_causal"),
    )


def _some_heads(
    queries: Array,
    keys: Array,
    values: Array,
    mask: Array | None,
    scale: float,
    mixes: list[list[float] | None],
) -> Array:
    """[rows, heads, elements] of [rows, heads, elements], and a mask [heads, rows, keys]."""
    scores = np.einsum("mhd,nhd->hmn", queries, keys, optimize=True) * np.float32(scale)
    if mask is not None:
        scores = scores + mask
    shares = _mixed(softmax(_mixed(scores, mixes[0]), -1), mixes[1])
    return np.einsum("hmn,nhd->mhd", shares, values, optimize=True)


def _mixed(matrices: Array, mix: list[float] | None) -> Array:
    """Sums over all heads' matrices [heads, rows, keys], and a number added to each head's."""
    if mix is None:
        return matrices
    heads = len(matrices)
    numbers = np.asarray(mix, np.float32).reshape(heads + 1, heads)
    return np.einsum("gmn,gh->hmn", matrices, numbers[:-1]) + numbers[-1][:, None, None]


def blockwise_attention(call: Call) -> Array:
    """softmax(q k^T * scale + mask) v, one head of one batch after the other."""
    batch, heads, kv_heads = (call.integer(name) for name in ("batch", "q_head", "kv_head"))
    rows, keys = call.integer("mq"), call.integer("mk")
    major = [0] * 4
    if call.has("head_major"):
        major = call.integers("head_major") or major

    def matrices(index: int, count: int, some: int) -> Array:
        given = call.tensor(index)
        if major[index]:
            return given.reshape(batch, some, count, -1).swapaxes(1, 2)
        return given.reshape(batch, count, some, -1)

    queries = matrices(0, rows, heads)
    key, value = (matrices(index, keys, kv_heads) for index in (1, 2))
    mask = call.optional(3)
    if mask is not None and call.has("mask_by_row") and call.flag("mask_by_row"):
        mask = mask.swapaxes(1, 2)
    masks = None if mask is None else np.broadcast_to(mask, (batch, heads, rows, keys))
    shared = np.arange(heads) * kv_heads // heads
    out = np.empty((batch, rows, heads, value.shape[-1]), np.float32)
    names = ("mix_scores", "mix_shares")
    mixes = [(call.numbers(name) or None) if call.has(name) else None for name in names]
    together = heads if any(mixes) else 1
    for b, first in np.ndindex(batch, heads // together):
        some = slice(first * together, (first + 1) * together)
        out[b, :, some] = _some_heads(
            queries[b, :, some],
            key[b, :, shared[some]].swapaxes(0, 1),
            value[b, :, shared[some]].swapaxes(0, 1),
            None if masks is None else masks[b, some],
            call.number("scale"),
            mixes,
        )
    return call.shaped(out.swapaxes(1, 2) if major[3] else out)


RULES: Final[Rules] = {
    matrix_product: (top.MatMulOp, tpu.MatMulOp),
    einsum: (top.EinsumOp,),
    dot_product_attention: (top.ScaleDotProductAttentionOp,),
    blockwise_attention: (top.FAttentionOp, tpu.FAttentionOp),
}
