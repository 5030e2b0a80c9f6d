"""A product of matrices in local memory, and what follows it.

Rows of the left matrix and of the result lie on the lanes. 16-bit types use MM2, whose right
operand has K on the lanes, or N when it is transposed. f32 uses the convolution unit: the left
matrix is the filter (rows = output channels), the right one an image of K channels and one row.
"""

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter, Window
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.tensor import DType, LocalTensor


def multiply(
    emitter: Emitter,
    out: LocalTensor,
    left: LocalTensor,
    right: LocalTensor,
    right_transpose: bool = False,
    accumulate: bool = False,
) -> None:
    """out (1, M, 1, N) = left (1, M, 1, K) x right in local memory.

    16 and (to i32) 8 bits: everything EU-aligned, right (1, K, 1, N), or (1, N, 1, K) when
    transposed. f32: left compact, right (1, K, 1, N).
    """
    if left.dtype is DType.F32:
        emitter.conv(out, right, left, Window((1, 1)), accumulate=accumulate)
    else:
        emitter.mm2(out, left, right, right_transpose, accumulate)


def bias_columns(bias: LocalTensor, columns: Piece, rows: int, chip: Chip) -> LocalTensor:
    """Columns of a bias that lies on every lane, for adding to `rows` rows."""
    shape = (1, min(rows, chip.lanes), 1, columns.size)
    return bias.window((0, 0, 0, columns.start), shape, chip)
