"""`tpu.Rope`: pairs of elements of every head turned by the angle of the token's position.

x * cosine + rotated(x) * sine, every product and the sum rounded to the element type. The two
elements of a pair lie side by side or half a head apart. Tokens lie in the lanes, the heads of each
behind one another.
"""

import math

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.mapping import ElementWise, Scratch, Work
from xdsl_tpu.backend.kernels.support import where
from xdsl_tpu.backend.local.context import LocalContext
from xdsl_tpu.backend.local.elementwise import aligned_operand, run
from xdsl_tpu.backend.tensor import LocalTensor, strided
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit, NoKernel
from xdsl_tpu.dialects.interfaces.lane_view import Viewed
from xdsl_tpu.dialects.interfaces.shape import Shape, known_shape
from xdsl_tpu.dialects.tpu import RopeMode


def view(op: Operation, chip: Chip) -> tuple[Viewed]:
    """x [.., tokens, heads, size] with tokens over the lanes, or, where there are more of these,
    heads, to which the angles of their token are then repeated.

    Raises NoKernel for other shapes and for `force_f32`.
    """
    assert isinstance(op, tpu.RopeOp)
    shape, *angles = (known_shape(value.type) or () for value in op.operands)
    *_, heads, size = (1, *shape)
    tokens = math.prod(shape) // (heads * size)
    fits = all(math.prod(one) == tokens * size for one in angles)
    if not fits or size % 2 or op.force_f32.value.data:
        raise NoKernel(f"{where(op)}: sine {angles[0]} and cosine {angles[1]} for {shape}")
    seen: Shape
    angle: Shape
    if tokens < heads:
        seen, angle = (tokens, heads, 1, size), (tokens, 1, 1, size)
    else:
        seen, angle = (1, tokens, heads, size), (1, tokens, 1, size)
    return (Viewed((seen, angle, angle), seen),)


def rope(context: LocalContext) -> None:
    """Emit the rotation of x (n, tokens, heads, size), in as large parts as scratch memory asks
    for."""
    op, out = context.op, context.out.tensor
    assert isinstance(op, tpu.RopeOp)
    if op.force_f32.value.data or out.shape[3] % 2:
        raise DoesNotFit(f"a rotation of rows of {out.shape[3]} has no local kernel")
    paired = op.rope_mode.data is RopeMode.interleaved_pairs

    def compute(e: Emitter, work: Work) -> None:
        _rotate(e, work, paired)

    operands = [aligned_operand(context, context.operand(index)) for index in range(3)]
    work = ElementWise(compute, (Scratch(out.dtype), Scratch(out.dtype)))
    run(context, work, out, operands, whole=out.shape, line=out.shape[3])


def _rotate(e: Emitter, work: Work, paired: bool) -> None:
    """Operands are x, sine and cosine, of which the angles may be stretched; two tensors are like
    the result."""
    out, (x, sine, cosine), (straight, turned) = work.out, work.operands, work.scratch

    def half(tensor: LocalTensor, which: int) -> LocalTensor:
        """The first or second elements of all pairs."""
        n, c, h, w = tensor.shape
        by_n, by_c, by_h, _ = tensor.strides
        step, first = (2, which) if paired else (1, which * w // 2)
        strides = (by_n, by_c, by_h, step)
        return strided(tensor.at(w=first), (n, c, h, w // 2), strides, tensor.dtype)

    e.arith(Arith.MUL, straight, x, cosine)
    for which, kind in ((0, Arith.SUB), (1, Arith.ADD)):
        here = half(turned, which)
        e.arith(Arith.MUL, here, half(x, 1 - which), half(sine, which))
        e.arith(kind, half(out, which), half(straight, which), here)
