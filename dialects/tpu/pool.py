"""Pooling over windows."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_ARRAY, I64_INT, SI32, default_attr_def, ints
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.local_gen import GroupType
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, ShapeInference, dims
from xdsl_tpu.dialects.interfaces.shape_rules import Window, windows
from xdsl_tpu.dialects.tpu.enums import RoundMode
from xdsl_tpu.dialects.tpu.kinds import LAYER_GROUP, POOL_MODE, ROUND_MODE
from xdsl_tpu.dialects.tpu.local import GlobalOnly, LocalWindows, stride_problem
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, LocalOp, TpuOp
from xdsl_tpu.dialects.traits import SupportFuseRelu


def pool_windows(op: "Pool1DOp | Pool2DOp | Pool3DOp", rank: int) -> tuple[Window, ...]:
    """One window for each of `rank` spatial dimensions; raises ShapeError."""
    shape = op.shape_of(op.input)
    if len(shape) != rank + 2:
        raise ShapeError(f"input {dims(shape)} must be N, C and {rank} spatial dimension(s)")
    kernel, strides, pads = map(ints, (op.kernel_shape, op.strides, op.pads))
    return windows(shape[2:], kernel, strides, (1,) * rank, pads)


def pooled_shape(op: "Pool1DOp | Pool2DOp | Pool3DOp", rank: int) -> Shape:
    """N, C and the positions of the windows; raises ShapeError."""
    slides, shape = pool_windows(op, rank), op.shape_of(op.input)
    ceils = not isinstance(op, Pool3DOp) and op.ceil_mode is not None and bool(op.ceil_mode)
    positions = tuple(
        window.positions(size, ceils) for window, size in zip(slides, shape[2:], strict=True)
    )
    if op.keepdims:
        return (*shape[:2], *positions)
    if set(positions) != {1}:
        raise ShapeError(f"keepdims is false but there are {dims(positions)} positions")
    return shape[:2]


@irdl_op_definition
class Pool1DOp(LocalWindows, ShapeInference, LocalOp):
    """Mean or maximum of every window over W of N, C, W; then the ReLU.

    Padding counts as `pad_value` in a mean when `count_include_pad`, and never wins a maximum.
    Without `keepdims` spatial dimensions, all of size 1, are dropped. A quantised mean is
    scaled by `multiplier` and `rshift`.
    """

    name = "tpu.Pool1D"

    input = operand_def(RANKED)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    pool_mode = attr_def(POOL_MODE)
    pad_value = default_attr_def(I64_INT, 0)
    is_adaptive = default_attr_def(BOOL, False)
    count_include_pad = default_attr_def(BOOL, False)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    ceil_mode = opt_attr_def(BOOL)
    multiplier = opt_attr_def(SI32)
    rshift = opt_attr_def(SI32)
    scale = opt_attr_def(F64)
    offset = opt_attr_def(F64)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    first_round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    layer_group = opt_attr_def(LAYER_GROUP)
    fp8_out_scale = opt_attr_def(F64)
    do_core_parallel = opt_attr_def(BOOL)
    keepdims = default_attr_def(BOOL, True)
    output = result_def(RANKED)

    traits = traits_def(Pure(), SupportFuseRelu())

    def result_shapes(self) -> tuple[Shape, ...]:
        return (pooled_shape(self, 1),)

    def windows(self) -> tuple[Window, ...]:
        """One window a spatial dimension; raises ShapeError when the lists do not fit."""
        return pool_windows(self, 1)

    def local_support(self, kind: GroupType) -> str | None:
        return stride_problem(self.windows())


@irdl_op_definition
class Pool2DOp(LocalWindows, ShapeInference, LocalOp):
    """Mean or maximum of every window over H and W of N, C, H, W; then the ReLU.

    Padding counts as `pad_value` in a mean when `count_include_pad`, and never wins a maximum.
    Without `keepdims` spatial dimensions, all of size 1, are dropped. A quantised mean is
    scaled by `multiplier` and `rshift`.
    """

    name = "tpu.Pool2D"

    input = operand_def(RANKED)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    pool_mode = attr_def(POOL_MODE)
    pad_value = default_attr_def(I64_INT, 0)
    is_adaptive = default_attr_def(BOOL, False)
    count_include_pad = default_attr_def(BOOL, False)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    ceil_mode = opt_attr_def(BOOL)
    multiplier = opt_attr_def(SI32)
    rshift = opt_attr_def(SI32)
    scale = opt_attr_def(F64)
    offset = opt_attr_def(F64)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    first_round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    layer_group = opt_attr_def(LAYER_GROUP)
    fp8_out_scale = opt_attr_def(F64)
    do_core_parallel = opt_attr_def(BOOL)
    keepdims = default_attr_def(BOOL, True)
    output = result_def(RANKED)

    traits = traits_def(Pure(), SupportFuseRelu())

    def result_shapes(self) -> tuple[Shape, ...]:
        return (pooled_shape(self, 2),)

    def windows(self) -> tuple[Window, ...]:
        """One window a spatial dimension; raises ShapeError when the lists do not fit."""
        return pool_windows(self, 2)

    def local_support(self, kind: GroupType) -> str | None:
        return (
            "its windows adapt to the output"
            if self.is_adaptive
            else stride_problem(self.windows())
        )


@irdl_op_definition
class Pool3DOp(LocalWindows, ShapeInference, LocalOp):
    """Mean or maximum of every window over D, H and W of N, C, D, H, W; then the ReLU.

    Padding counts as `pad_value` in a mean when `count_include_pad`, and never wins a maximum.
    Without `keepdims` spatial dimensions, all of size 1, are dropped. A quantised mean is
    scaled by `multiplier` and `rshift`.
    """

    name = "tpu.Pool3D"

    input = operand_def(RANKED)
    buffer = operand_def(RANKED_OR_NONE)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    pool_mode = attr_def(POOL_MODE)
    pad_value = default_attr_def(I64_INT, 0)
    count_include_pad = default_attr_def(BOOL, False)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    multiplier = opt_attr_def(SI32)
    rshift = opt_attr_def(SI32)
    scale = opt_attr_def(F64)
    offset = opt_attr_def(F64)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    first_round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    layer_group = opt_attr_def(LAYER_GROUP)
    fp8_out_scale = opt_attr_def(F64)
    keepdims = default_attr_def(BOOL, True)
    output = result_def(RANKED)

    traits = traits_def(Pure(), SupportFuseRelu())

    def result_shapes(self) -> tuple[Shape, ...]:
        return (pooled_shape(self, 3),)

    def windows(self) -> tuple[Window, ...]:
        """One window a spatial dimension; raises ShapeError when the lists do not fit."""
        return pool_windows(self, 3)

    def local_support(self, kind: GroupType) -> str | None:
        return stride_problem(self.windows())


@irdl_op_definition
class MaxPoolWithMaskOp(GlobalOnly, LocalOp):
    """Max pooling that also tells which element of each window won."""

    name = "tpu.MaxPoolWithMask"

    input = operand_def(RANKED)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    layer_group = opt_attr_def(LAYER_GROUP)
    output = result_def(RANKED)
    mask = result_def(RANKED)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class MaxUnpoolOp(GlobalOnly, LocalOp):
    """The inverse of max pooling: values go where the mask says, zeros elsewhere."""

    name = "tpu.MaxUnpool"

    input = operand_def(RANKED)
    mask = operand_def(RANKED)
    scale_h = attr_def(I64_INT)
    scale_w = attr_def(I64_INT)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class PoolMaskOp(TpuOp):
    """The mask of a pool with windows of `scale`: which elements are the largest of theirs."""

    name = "tpu.PoolMask"

    input = operand_def(RANKED)
    scale = attr_def(I64_INT)
    output = result_def(RANKED)

    traits = traits_def(Pure())
