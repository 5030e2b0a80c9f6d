"""`tpu.Lut` on slices."""

from collections.abc import Sequence

from xdsl_tpu.backend.emitter.quantized import banks_of, share_a_bank
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.local.context import Form, LocalContext
from xdsl_tpu.backend.local.elementwise import aligned_operand
from xdsl_tpu.backend.local.parts import Part, parts
from xdsl_tpu.backend.tensor import LocalTensor, Shape4, aligned, aligned_bytes
from xdsl_tpu.dialects.errors import DoesNotFit, NoKernel

TABLE_ELEMENTS = 256


def lookup(context: LocalContext) -> None:
    """Emit a look-up; the table is in every lane.

    Operand and result that share a bank of local memory would take half as long again. Then the
    operand is copied to free memory in other banks, if there is any, which takes a 64th.

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
    emitter, chip = context.emitter, context.chip
    if share_a_bank((out, index, values), chip):
        address, pieces = _elsewhere(context, out, values)
        for part in pieces:
            target = part.of(out, chip)
            copy = aligned(chip, address, target.shape, index.dtype)
            emitter.copy(copy, part.of(index, chip))
            emitter.lookup(target, copy, values)
        if pieces:
            return
    emitter.lookup(out, index, values)


def _elsewhere(
    context: LocalContext, out: LocalTensor, table: LocalTensor
) -> tuple[int, Sequence[Part]]:
    """Free memory in other banks and the parts of the slice that fit there, if there is any."""
    chip, scratch = context.chip, context.scratch
    used = banks_of(out, chip) | banks_of(table, chip)
    found: dict[int, int] = {}

    def fits(shape: Shape4) -> bool:
        size = aligned_bytes(chip, shape, out.dtype)
        address = scratch.apart(size, used)
        if address is None:
            return False
        found[0] = address
        return True

    if banks_of(out, chip) & banks_of(table, chip):
        return 0, ()
    if fits(out.shape):
        return found[0], [Part(Piece(0, out.shape[0]), Piece(0, out.shape[1]))]
    pieces = parts(out.shape, fits, chip, None)
    return (found[0], pieces) if pieces else (0, ())
