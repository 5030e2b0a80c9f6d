"""Building blocks of language models: rotary embeddings, products with packed weights."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters.call import Call
from xdsl_tpu.dialects.interpreters.elements import conform
from xdsl_tpu.dialects.interpreters.families.activation import ACTIVE_MODES
from xdsl_tpu.dialects.interpreters.registry import Rules
from xdsl_tpu.dialects.packed_weights import dequantised

Array = npt.NDArray[Any]


def rope(call: Call) -> Array:
    """x * cosine + rotated(x) * sine, each product and the sum rounded to the result's type.

    Rotated is (-second half, first half) of a row, or (-odd, even) of each pair of elements.
    """
    x, sine, cosine = (call.tensor(index) for index in range(3))
    if x.shape[-1] % 2:
        raise ValueError(f"rows of {x.shape[-1]} elements have no halves")
    turned = np.empty_like(x)
    if call.text("rope_mode") == "contiguous_halves":
        half = x.shape[-1] // 2
        turned[..., :half], turned[..., half:] = -x[..., half:], x[..., :half]
    else:
        turned[..., 0::2], turned[..., 1::2] = -x[..., 1::2], x[..., 0::2]
    kind = call.op.results[0].type
    return conform(x * cosine, kind) + conform(turned * sine, kind)


def packed_product(call: Call) -> Array:
    """x times the transposed matrix that `weight`, `scale` and `zp` stand for, plus a bias.

    `weight` is [N, K], packed (`dialects.packed_weights`). In `tpu` its numbers are rounded to the
    type of x, and scale and zero points may be in the order in which lanes hold them,
    [blocks, lanes, rounds, groups].
    """
    transposed = "right_transpose" if call.has("right_transpose") else "w_transpose"
    if not call.flag(transposed):
        raise ValueError("only packed weights of rows [N, K] have semantics")
    return _with_residual(call, _times_packed(call, call.tensor(), 1), 5)


def _with_residual(call: Call, out: Array, index: int) -> Array:
    """The rounded result, plus operand `index` if it is there."""
    residual = call.optional(index)
    if residual is None:
        return out
    return conform(out, call.op.results[0].type) + residual


def _times_packed(call: Call, x: Array, first: int) -> Array:
    """x times the matrix of four operands from `first` on: weight, scale, zero point, bias."""
    weight, scale, zero = (call.tensor(first + index) for index in range(3))
    if scale.ndim == 4:
        scale, zero = (one.swapaxes(1, 2).reshape(-1, one.shape[-1]) for one in (scale, zero))
    bits, group = call.integer("weight_bits"), call.integer("q_group_size")
    rows, kind = slice(0, weight.shape[0]), call.op.results[0].type
    matrix = dequantised(weight, scale[rows], zero[rows], bits, group)
    if isinstance(call.op, tpu.A16MatMulOp | tpu.MlpOp):
        matrix = conform(matrix, call.op.operands[0].type, overwrite=True)
    out = (x.reshape(-1, x.shape[-1]) @ matrix.T).reshape(*x.shape[:-1], -1)
    bias = call.optional(first + 3)
    if bias is None:
        return out
    return conform(out, kind, overwrite=True) + bias.reshape(-1)


def feed_forward(call: Call) -> Array:
    """down(f(gate(x)) * up(x)), or down(f(gate(x))), each step rounded to the result's type."""
    flags = ("w_transpose_gate", "w_transpose_up", "w_transpose_down")
    if not all(map(call.flag, flags)) or call.flag("is_expert"):
        raise ValueError("only weights of rows [N, K], without experts, have semantics")
    times = _times_packed if call.flag("quantized") else _times_floats
    x, kind = call.tensor(), call.op.results[0].type
    inner = conform(ACTIVE_MODES[call.text("activation")](conform(times(call, x, 1), kind)), kind)
    if call.optional(5) is not None:
        inner = conform(inner * conform(times(call, x, 5), kind), kind)
    return _with_residual(call, times(call, inner, 9), 15)


def _times_floats(call: Call, x: Array, first: int) -> Array:
    """x times the matrix [N, K] of operand `first`, plus the bias of the third behind it."""
    weight, kind = call.tensor(first), call.op.results[0].type
    out = x @ weight.reshape(weight.shape[-2:]).T
    bias = call.optional(first + 3)
    return out if bias is None else conform(out, kind, overwrite=True) + bias.reshape(-1)


RULES: Final[Rules] = {
    rope: (top.RopeOp, tpu.RopeOp),
    packed_product: (top.A16MatMulOp, tpu.A16MatMulOp),
    feed_forward: (tpu.MlpOp,),
}
