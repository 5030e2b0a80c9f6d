"""`tpu.Lut` as a layer over DDR: the table in every lane, one element of a lane per cycle."""

from xdsl.ir import Operation

from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.mapping import ElementWise, Work, run_boxes
from xdsl_tpu.backend.kernels.regions import boxes
from xdsl_tpu.backend.kernels.support import KernelContext, where
from xdsl_tpu.backend.tensor import LocalTensor
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import NoKernel, TpuError

TABLE_ELEMENTS = 256


def lookup(context: KernelContext, op: Operation) -> None:
    """Emit a look-up of 8-bit integers; raises TpuError for other types."""
    assert isinstance(op, tpu.LutOp)
    x, table, out = (context.value(v) for v in (op.input, op.table, op.output))
    if {x.dtype.bytes, table.dtype.bytes, out.dtype.bytes} != {1}:
        raise NoKernel(f"{where(op)}: only 8-bit tables and indices have a kernel")
    source = table.as4((1, 1, 1, TABLE_ELEMENTS))
    work = ElementWise(gather, lane_tables=(source,))
    whole = list(boxes(context.chip, out.shape, [x.shape], 1))
    run_boxes(context, (out, x), work, whole, (1, context.chip.lanes, 1, 1))


def gather(emitter: Emitter, work: Work) -> None:
    """The table's elements at the operand's bytes: a negative index counts from the end."""
    emitter.lookup(work.out, work.operands[0], lane_table(work.tables[0]))


def lane_table(table: LocalTensor) -> LocalTensor:
    """A table that every lane holds, as the command takes it."""
    if table.shape[3] != TABLE_ELEMENTS:
        raise TpuError(f"a table of {table.shape} where {TABLE_ELEMENTS} elements are needed")
    return table
