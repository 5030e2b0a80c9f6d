"""Matrix products: out = alpha * op(a) op(b) + _add_to_output."""

from abc import ABC

from xdsl.irdl import operand_def, opt_operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.interfaces.shape_rules import broadcast
from xdsl_tpu.dialects.oneflow.base import BOOL, F64, OneFlowOp, default_attr_def
from xdsl_tpu.dialects.oneflow.layout import ProductLayout
from xdsl_tpu.dialects.oneflow.segments import oneflow_op


class ProductOp(OneFlowOp, ABC):
    """Two operands, either of which may be transposed in its last two dimensions first."""

    a = operand_def(RANKED)
    b = operand_def(RANKED)
    add_to_output = opt_operand_def(RANKED)
    output = result_def(RANKED)
    transpose_a = default_attr_def(BOOL, False)
    transpose_b = default_attr_def(BOOL, False)
    alpha = default_attr_def(F64, 1.0)

    traits = traits_def(Pure(), ProductLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        left = _turned(self.shape_of(self.a), bool(self.transpose_a.value.data))
        right = _turned(self.shape_of(self.b), bool(self.transpose_b.value.data))
        self._check_ranks(left, right)
        if left[-1] != right[-2]:
            raise ShapeError(f"cannot multiply {dims(left)} by {dims(right)}: K differs")
        shape = (*broadcast(left[:-2], right[:-2]), left[-2], right[-1])
        more = self.add_to_output
        if more is not None and self.shape_of(more) != shape:
            raise ShapeError(f"_add_to_output {dims(self.shape_of(more))} must be {dims(shape)}")
        return (shape,)

    def _check_ranks(self, left: Shape, right: Shape) -> None:
        """Raise ShapeError for ranks this op does not multiply."""


def _turned(shape: Shape, flag: bool) -> Shape:
    if len(shape) < 2:
        raise ShapeError(f"{dims(shape)} is no matrix")
    return (*shape[:-2], shape[-1], shape[-2]) if flag else shape


@oneflow_op
class MatmulOp(ProductOp):
    """The product of two matrices."""

    name = "oneflow.matmul"

    def _check_ranks(self, left: Shape, right: Shape) -> None:
        if len(left) != 2 or len(right) != 2:
            raise ShapeError(f"{dims(left)} and {dims(right)} must be matrices of rank 2")


@oneflow_op
class BatchMatmulOp(ProductOp):
    """Products of as many matrices on the left as on the right."""

    name = "oneflow.batch_matmul"

    def _check_ranks(self, left: Shape, right: Shape) -> None:
        if left[:-2] != right[:-2] or len(left) < 3:
            raise ShapeError(f"the batches of {dims(left)} and {dims(right)} must be the same")


@oneflow_op
class FusedMatmulBiasOp(OneFlowOp):
    """out = alpha * x weight^T + beta * bias + _add_to_output: a linear layer."""

    name = "oneflow.fused_matmul_bias"

    x = operand_def(RANKED)
    weight = operand_def(RANKED)
    bias = operand_def(RANKED)
    add_to_output = opt_operand_def(RANKED)
    output = result_def(RANKED)
    alpha = default_attr_def(F64, 1.0)
    beta = default_attr_def(F64, 1.0)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        left, right = self.shape_of(self.x), self.shape_of(self.weight, 2)
        if not left or left[-1] != right[1]:
            raise ShapeError(f"cannot multiply {dims(left)} by {dims(right)} transposed: K differs")
        if self.shape_of(self.bias) != right[:1]:
            raise ShapeError(f"bias {dims(self.shape_of(self.bias))} needs {right[0]} elements")
        shape = (*left[:-1], right[0])
        more = self.add_to_output
        if more is not None and self.shape_of(more) != shape:
            raise ShapeError(f"_add_to_output {dims(self.shape_of(more))} must be {dims(shape)}")
        return (shape,)


@oneflow_op
class BroadcastMatmulOp(ProductOp):
    """Products over batches that broadcast against each other."""

    name = "oneflow.broadcast_matmul"
