"""Matrix products."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters.call import Call
from xdsl_tpu.dialects.interpreters.numerics.linear import MatMulFlags, attention, matmul
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


RULES: Final[Rules] = {
    matrix_product: (top.MatMulOp, tpu.MatMulOp),
    einsum: (top.EinsumOp,),
    dot_product_attention: (top.ScaleDotProductAttentionOp,),
}
