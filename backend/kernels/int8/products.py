"""What a quantised `tpu.MatMul` does with its exact sums."""

from xdsl_tpu.backend.kernels.int8.requant import Factor, rounding_of
from xdsl_tpu.backend.kernels.support import where
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import NoKernel
from xdsl_tpu.dialects.quant import zero_point


def factor_of(op: tpu.MatMulOp) -> Factor:
    """The factor to the result's scale, and the zero point of the result.

    Raises TpuError for one factor per column, zero points of operands that are not in the bias, a
    transposed output and a relu with a limit.
    """
    name = where(op)
    factors, shifts = ints(op.multipliers), ints(op.rshifts)
    if not is_none(op.multi) or len(factors) != 1 or len(shifts) != 1:
        raise NoKernel(f"{name}: a factor for each column has no kernel")
    if op.input_zp.value.data or op.right_zp.value.data:
        raise NoKernel(f"{name}: products with zero points have no kernel")
    if bool(op.output_transpose.value.data):
        raise NoKernel(f"{name}: a transposed output has no kernel")
    relu = bool(op.do_relu.value.data)
    if relu and op.relu_limit.value.data >= 0:
        raise NoKernel(f"{name}: a quantised relu with a limit has no kernel")
    zero = zero_point(op.output.type)
    if relu and zero:
        raise NoKernel(f"{name}: a quantised relu where 0 is another integer has no kernel")
    return Factor(factors[0], shifts[0], rounding_of(op.round_mode), relu, zero)
