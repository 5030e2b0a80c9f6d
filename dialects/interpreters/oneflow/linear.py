"""Matrix products."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects import oneflow
from xdsl_tpu.dialects.interpreters.call import Call
from xdsl_tpu.dialects.interpreters.numerics.linear import MatMulFlags, matmul
from xdsl_tpu.dialects.interpreters.oneflow.operands import plus_rest
from xdsl_tpu.dialects.interpreters.registry import Rules

Array = npt.NDArray[Any]


def _scaled(x: Array, factor: float) -> Array:
    return x if factor == 1.0 else x * np.float32(factor)


def product(call: Call) -> Array:
    """alpha * op(a) op(b), then what is to be added."""
    flags = MatMulFlags(call.flag("transpose_a"), call.flag("transpose_b"), False, False)
    out = matmul(call.tensor(0), call.tensor(1), None, flags)
    return plus_rest(call, _scaled(out, call.number("alpha")))


def linear_layer(call: Call) -> Array:
    """alpha * x weight^T + beta * bias, then what is to be added."""
    flags = MatMulFlags(False, True, False, False)
    out = _scaled(matmul(call.tensor(0), call.tensor(1), None, flags), call.number("alpha"))
    return plus_rest(call, out + _scaled(call.tensor(2), call.number("beta")))


RULES: Final[Rules] = {
    product: (oneflow.MatmulOp, oneflow.BatchMatmulOp, oneflow.BroadcastMatmulOp),
    linear_layer: (oneflow.FusedMatmulBiasOp,),
}
