"""`tpu.Lut` on slices."""

from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.int8.lookup import lane_table
from xdsl_tpu.backend.kernels.mapping import ElementWise, Work
from xdsl_tpu.backend.local.context import Form, LocalContext
from xdsl_tpu.backend.local.elementwise import aligned_operand, run
from xdsl_tpu.dialects.errors import TpuError


def lookup(context: LocalContext) -> None:
    """Emit a look-up; the table is in every lane.

    Raises TpuError for types of other than 8 bits.
    """
    x, table = context.operand(0), context.operand(1)
    if {x.dtype.bytes, table.dtype.bytes, context.out.dtype.bytes} != {1}:
        raise TpuError("only 8-bit tables and indices have a kernel")
    if table.form is not Form.ROW:
        raise TpuError("the table must be in every lane")
    values = lane_table(table.tensor)

    def compute(emitter: Emitter, work: Work) -> None:
        emitter.lookup(work.out, work.operands[0], values)

    run(context, ElementWise(compute), context.out.tensor, [aligned_operand(context, x)])
