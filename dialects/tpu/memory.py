"""Places in memory and copies between them."""

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_INT, default_attr_def
from xdsl_tpu.dialects.base import RANKED
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
    """Allocated output buffer (for partial writes of opt=3 groups)."""

    name = "tpu.OutBuffer"

    need_dump = default_attr_def(BOOL, False)
    output = result_def(RANKED)

    traits = traits_def(OwnResult())


@irdl_op_definition
class WeightReorderOp(TpuOp):
    """Rearrange a dynamic weight at run time."""

    name = "tpu.WeightReorder"

    input = operand_def(RANKED)
    reorder_mode = default_attr_def(I64_INT, 0)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class Weight2ActivationOp(TpuOp):
    """Mark a weight as activation."""

    name = "tpu.Weight2Activation"

    input = operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class AutoIncreaseOp(TpuOp):
    """Add a constant to the input buffer in place each run."""

    name = "tpu.AutoIncrease"

    input = operand_def(RANKED)
    const_val = attr_def(F64)
    output = result_def(RANKED)


@irdl_op_definition
class D2DOp(TpuOp):
    """Device to device copy."""

    name = "tpu.D2D"

    input = operand_def(RANKED)
    const_val = attr_def(F64)
    output = result_def(RANKED)


@irdl_op_definition
class Device2HostOp(TpuOp):
    """Copy to host for a shape/CPU op."""

    name = "tpu.Device2Host"

    input = operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeProducer())


@irdl_op_definition
class Host2DeviceOp(TpuOp):
    """Copy from host."""

    name = "tpu.Host2Device"

    input = operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer())
