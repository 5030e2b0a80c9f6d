"""Max and average pooling."""

from __future__ import annotations

from typing import Any, Final

import numpy.typing as npt

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters.call import Call, Value
from xdsl_tpu.dialects.interpreters.families.convolution import resolve_pads
from xdsl_tpu.dialects.interpreters.numerics.pooling import (
    PoolGeometry,
    adaptive_avg_pool,
    avg_pool,
    max_pool,
    max_pool_with_mask,
)
from xdsl_tpu.dialects.interpreters.numerics.resize import max_unpool
from xdsl_tpu.dialects.interpreters.registry import Rules

Array = npt.NDArray[Any]


def _geometry(call: Call, x: Array) -> PoolGeometry:
    """The window of the op; an empty `kernel_shape` (before shape inference) means all of it."""
    kernel = call.integers("kernel_shape")
    if not kernel:
        return PoolGeometry(x.shape[2:], (1,) * (x.ndim - 2), (0,) * (2 * (x.ndim - 2)))
    strides = call.integers("strides") or [1] * len(kernel)
    pads = resolve_pads(call, x.shape[-len(kernel) :], strides, kernel)
    ceil = call.has("ceil_mode") and call.flag("ceil_mode")
    return PoolGeometry(kernel, strides, pads or [0] * (2 * len(kernel)), ceil)


def _dropped(call: Call, out: Array) -> Array:
    """Without `keepdims` trailing dimensions of 1 go, down to rank 2."""
    if call.shape() is None and call.has("keepdims") and not call.flag("keepdims"):
        while out.ndim > 2 and out.shape[-1] == 1:
            out = out[..., 0]
    return call.shaped(out)


def maximum_pool(call: Call) -> Array:
    """The largest of each window."""
    x = call.tensor()
    return _dropped(call, max_pool(x, _geometry(call, x)))


def average_pool(call: Call) -> Array:
    """The mean of each window."""
    x = call.tensor()
    return _dropped(call, avg_pool(x, _geometry(call, x), call.flag("count_include_pad")))


def pool(call: Call) -> Array:
    """Max or average as `pool_mode` says."""
    return maximum_pool(call) if call.text("pool_mode") == "Max" else average_pool(call)


def adaptive(call: Call) -> Array:
    """Means over parts that divide each dimension as evenly as they can."""
    return adaptive_avg_pool(call.tensor(), call.integers("output_size"))


def with_mask(call: Call) -> tuple[Value, ...]:
    """The largest of each window, and where it was."""
    x = call.tensor()
    return max_pool_with_mask(x, _geometry(call, x))


def unpool(call: Call) -> Array:
    """Each value at the place its mask names, zeros elsewhere."""
    scales = call.integer("scale_h"), call.integer("scale_w")
    return max_unpool(call.tensor(), call.tensor(1), *scales)


RULES: Final[Rules] = {
    maximum_pool: (top.MaxPoolOp,),
    average_pool: (top.AvgPoolOp,),
    pool: (tpu.Pool1DOp, tpu.Pool2DOp, tpu.Pool3DOp),
    adaptive: (top.AdaptiveAvgPoolOp,),
    with_mask: (top.MaxPoolWithMaskOp, tpu.MaxPoolWithMaskOp),
    unpool: (top.MaxUnpoolOp, tpu.MaxUnpoolOp),
}
