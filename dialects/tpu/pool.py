"""Pooling over windows."""

from abc import ABC
from typing import ClassVar

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
from xdsl_tpu.dialects.tpu.local import LocalWindows, TakesMargins, stride_problem
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, FusedReluOp, LocalOp, TpuOp
from xdsl_tpu.dialects.traits import SupportFuseRelu


class WindowPoolOp(LocalWindows, ShapeInference, FusedReluOp, LocalOp, ABC):
    """Mean or maximum of every window over the `RANK` last dimensions; then the ReLU.

    Padding counts as `pad_value` in a mean when `count_include_pad`, and never wins a maximum.
    Without `keepdims` spatial dimensions, all of size 1, are dropped. A quantised mean is
    scaled by `multiplier` and `rshift`.
    """

    RANK: ClassVar[int]

    input = operand_def(RANKED)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    pool_mode = attr_def(POOL_MODE)
    pad_value = default_attr_def(I64_INT, 0)
    count_include_pad = default_attr_def(BOOL, False)
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

    @property
    def rounds_up(self) -> bool:
        """Whether a window may start where it does not fit any more."""
        return False

    def result_shapes(self) -> tuple[Shape, ...]:
        """N, C and the positions of the windows."""
        slides, shape = self.windows(), self.shape_of(self.input)
        positions = tuple(
            window.positions(size, self.rounds_up)
            for window, size in zip(slides, shape[2:], strict=True)
        )
        if self.keepdims:
            return ((*shape[:2], *positions),)
        if set(positions) != {1}:
            raise ShapeError(f"keepdims is false but there are {dims(positions)} positions")
        return (shape[:2],)

    def shares_channels(self, kind: GroupType) -> bool:
        return True

    def windows(self) -> tuple[Window, ...]:
        """One window a spatial dimension; raises ShapeError when the lists do not fit."""
        rank, shape = self.RANK, self.shape_of(self.input)
        if len(shape) != rank + 2:
            raise ShapeError(f"input {dims(shape)} must be N, C and {rank} spatial dimension(s)")
        kernel, strides, pads = map(ints, (self.kernel_shape, self.strides, self.pads))
        return windows(shape[2:], kernel, strides, (1,) * rank, pads)


class AdaptivePoolOp(TakesMargins, WindowPoolOp, ABC):
    """Pooling that may adapt its windows to the output, or round their number up."""

    is_adaptive = default_attr_def(BOOL, False)
    ceil_mode = opt_attr_def(BOOL)
    do_core_parallel = opt_attr_def(BOOL)

    @property
    def rounds_up(self) -> bool:
        return self.ceil_mode is not None and bool(self.ceil_mode)

    def local_support(self, kind: GroupType) -> str | None:
        if self.is_adaptive:
            return "its windows adapt to the output"
        return stride_problem(self.windows())


@irdl_op_definition
class Pool1DOp(AdaptivePoolOp):
    """Mean or maximum of every window over W of N, C, W; then the ReLU."""

    RANK: ClassVar[int] = 1

    name = "tpu.Pool1D"


@irdl_op_definition
class Pool2DOp(AdaptivePoolOp):
    """Mean or maximum of every window over H and W of N, C, H, W; then the ReLU."""

    RANK: ClassVar[int] = 2

    name = "tpu.Pool2D"


@irdl_op_definition
class Pool3DOp(WindowPoolOp):
    """Mean or maximum of every window over D, H and W of N, C, D, H, W; then the ReLU."""

    RANK: ClassVar[int] = 3

    name = "tpu.Pool3D"

    input = operand_def(RANKED)
    buffer = operand_def(RANKED_OR_NONE)


@irdl_op_definition
class MaxPoolWithMaskOp(FusedReluOp, LocalOp):
    """Max pooling that also tells which element of each window won."""

    name = "tpu.MaxPoolWithMask"

    input = operand_def(RANKED)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    layer_group = opt_attr_def(LAYER_GROUP)
    output = result_def(RANKED)
    mask = result_def(RANKED)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class MaxUnpoolOp(LocalOp):
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
