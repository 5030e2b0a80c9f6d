"""`tpu.Lut` on slices."""

from xdsl_tpu.backend.local.context import Form, LocalContext
from xdsl_tpu.backend.local.elementwise import aligned_operand
from xdsl_tpu.backend.tensor import Layout
from xdsl_tpu.dialects.errors import DoesNotFit, NoKernel

TABLE_ELEMENTS = 256


def lookup(context: LocalContext) -> None:
    """Emit a look-up; the table is in every lane.

    Raises TpuError for types of other than 8 bits.
    """
    x, table = context.operand(0), context.operand(1)
    if {x.dtype.bytes, table.dtype.bytes, context.out.dtype.bytes} != {1}:
        raise NoKernel("only 8-bit tables and indices have a kernel")
    if table.form is not Form.ROW:
        raise DoesNotFit("the table must be in every lane")
    values, out = table.tensor, context.out.tensor
    if values.shape[3] != TABLE_ELEMENTS:
        raise NoKernel(f"a table of {values.shape} where {TABLE_ELEMENTS} elements are needed")
    index = aligned_operand(context, x)
    if index.layout is not Layout.ALIGNED:  # a window into a larger slice
        whole, index = index, context.scratch.aligned(index.shape, index.dtype)
        context.emitter.copy(index, whole)
    context.emitter.lookup(out, index, values)
