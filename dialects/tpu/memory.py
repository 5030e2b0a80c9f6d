"""Places in memory and copies between them."""

from math import prod

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_INT, SI32, default_attr_def
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, ShapeInference, dims
from xdsl_tpu.dialects.tpu.enums import BufferType
from xdsl_tpu.dialects.tpu.kinds import BUFFER_TYPE
from xdsl_tpu.dialects.tpu.op import TpuOp
from xdsl_tpu.dialects.traits import OwnResult, ShapeConsumer, ShapeProducer


@irdl_op_definition
class BufferOp(TpuOp):
    """Scratch memory of the size of the result, global or in the L2 cache by `buffer_type`."""

    name = "tpu.Buffer"

    buffer_type = default_attr_def(BUFFER_TYPE, BufferType.GMEM)
    output = result_def(RANKED)

    traits = traits_def(OwnResult())


@irdl_op_definition
class OutBufferOp(TpuOp):
    """Memory for a result that several ops write piece by piece."""

    name = "tpu.OutBuffer"

    need_dump = default_attr_def(BOOL, False)
    output = result_def(RANKED)

    traits = traits_def(OwnResult())


@irdl_op_definition
class AppendOp(ShapeInference, TpuOp):
    """`input` and `behind`, which lies right behind it, as one value along `axis`.

    Nothing is executed: `address-assign` puts the second behind the first.
    """

    name = "tpu.Append"

    input = operand_def(RANKED)
    behind = operand_def(RANKED)
    axis = attr_def(SI32)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        first, second = self.shape_of(self.input), self.shape_of(self.behind)
        axis = self.axis.value.data
        around = [(*shape[:axis], *shape[axis + 1 :]) for shape in (first, second)]
        if len(first) != len(second) or around[0] != around[1]:
            raise ShapeError(f"{dims(second)} does not go behind {dims(first)} along axis {axis}")
        if prod(first[:axis]) != 1:
            raise ShapeError(f"along axis {axis} rows of {dims(first)} alternate")
        return ((*first[:axis], first[axis] + second[axis], *first[axis + 1 :]),)


@irdl_op_definition
class JoinOp(ShapeInference, TpuOp):
    """The inputs, which lie one behind the other, as one value along `axis`.

    Nothing is executed: `address-assign` puts each where it lies in the result.
    """

    name = "tpu.Join"

    inputs = var_operand_def(RANKED)
    axis = attr_def(SI32)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        shapes = [self.shape_of(value) for value in self.inputs]
        axis = self.axis.value.data
        around = {(*shape[:axis], *shape[axis + 1 :]) for shape in shapes}
        if len(around) != 1 or not 0 <= axis < len(shapes[0]):
            raise ShapeError(f"{', '.join(map(dims, shapes))} do not join along axis {axis}")
        if prod(shapes[0][:axis]) != 1:
            raise ShapeError(f"along axis {axis} rows of {dims(shapes[0])} alternate")
        whole = sum(shape[axis] for shape in shapes)
        return ((*shapes[0][:axis], whole, *shapes[0][axis + 1 :]),)


@irdl_op_definition
class WeightReorderOp(TpuOp):
    """A filter that was computed rather than loaded, brought into the chip's layout."""

    name = "tpu.WeightReorder"

    input = operand_def(RANKED)
    reorder_mode = default_attr_def(I64_INT, 0)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class Weight2ActivationOp(TpuOp):
    """A weight used where an op wants an activation."""

    name = "tpu.Weight2Activation"

    input = operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class AutoIncreaseOp(TpuOp):
    """The input plus a number, written back into its memory on every run."""

    name = "tpu.AutoIncrease"

    input = operand_def(RANKED)
    const_val = attr_def(F64)
    output = result_def(RANKED)


@irdl_op_definition
class D2DOp(TpuOp):
    """A tensor copied to other memory of the same device."""

    name = "tpu.D2D"

    input = operand_def(RANKED)
    const_val = attr_def(F64)
    output = result_def(RANKED)


@irdl_op_definition
class Device2HostOp(TpuOp):
    """A tensor made readable for an op that the host runs."""

    name = "tpu.Device2Host"

    input = operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeProducer())


@irdl_op_definition
class Host2DeviceOp(TpuOp):
    """A tensor the host computed, made readable for the chip."""

    name = "tpu.Host2Device"

    input = operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer())
