"""`tpu.Rope` on slices: tokens in the lanes, the heads of each behind one another."""

from xdsl_tpu.backend.kernels.rope import rotate
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.local.context import LocalContext
from xdsl_tpu.backend.local.elementwise import aligned_operand
from xdsl_tpu.backend.local.parts import Part
from xdsl_tpu.backend.local.views import group_pieces
from xdsl_tpu.backend.tensor import aligned_bytes
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.tpu import RopeMode


def rope(context: LocalContext) -> None:
    """Emit the rotation of x (n, tokens, heads, size); a group of lanes at a time where scratch
    memory asks for it."""
    op, out, scratch, chip = context.op, context.out.tensor, context.scratch, context.chip
    assert isinstance(op, tpu.RopeOp)
    x, sine, cosine = (aligned_operand(context, context.operand(index)) for index in range(3))
    if op.force_f32.value.data or out.shape[3] % 2:
        raise DoesNotFit(f"a rotation of rows of {out.shape[3]} has no local kernel")
    paired = op.rope_mode.data is RopeMode.interleaved_pairs
    if scratch.holds([aligned_bytes(chip, out.shape, out.dtype)] * 2):
        pieces = [Part(Piece(0, out.shape[0]), Piece(0, out.shape[1]))]
    else:
        pieces = [
            Part(Piece(image, 1), channels)
            for image in range(out.shape[0])
            for channels in group_pieces(out.shape[1], 1, chip.lanes)
        ]
    for piece in pieces:
        with scratch.temporary():
            tensors = [piece.of(tensor, chip) for tensor in (out, x, sine, cosine)]
            spare = [scratch.aligned(tensors[0].shape, out.dtype) for _ in range(2)]
            rotate(context.emitter, tensors, spare, paired)
