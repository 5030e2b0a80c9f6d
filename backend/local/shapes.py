"""How the tensors of a group lie in local memory."""

from xdsl.ir import SSAValue

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw
from xdsl_tpu.dialects.interfaces.local_shapes import ncdhw
from xdsl_tpu.dialects.interfaces.shape import known_shape
from xdsl_tpu.dialects.names import name_of


def of_value(value: SSAValue, kind: GroupType, lanes: int) -> Ncdhw:
    """The row-major view of an IR value that its slices refer to.

    Raises TpuError when its shape is not static.
    """
    shape = known_shape(value.type)
    if shape is None:
        raise TpuError(f"'{name_of(value)}' of type {value.type} has no static shape")
    return ncdhw(shape, kind, lanes)
