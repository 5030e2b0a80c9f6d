"""Casts to fewer bits move in front of what only moves numbers."""

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.tpu.local import FLOATS
from xdsl_tpu.passes.graph import derived_name, rebuilt, sole_producer, tensor_like
from xdsl_tpu.passes.tensors import element_bytes, number_type, shape_of

Move = tpu.PermuteOp | tpu.ReshapeOp | tpu.SqueezeOp | tpu.UnsqueezeOp


class CastBeforeMove(RewritePattern):
    """Cast(Reshape(x : f32) : f32) : f16 -> Reshape(Cast(x) : f16).

        GELU     1x64x128    : f32           GELU     1x64x128    : f32
        Reshape  1x64x128x1  : f32     ->    Cast     1x64x128    : f16
        Cast     1x64x128x1  : f16           Reshape  1x64x128x1  : f16

    So for Permute, Squeeze and Unsqueeze, of which nothing else reads the result. Fewer bytes are
    moved, and the Cast meets the one in front of the function (`NarrowActive`). A Cast that the
    function returns stays where it is. Not in the vendor's compiler.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.CastOp, rewriter: PatternRewriter) -> None:
        move = next((one for kind in _MOVES if (one := sole_producer(op.input, kind))), None)
        if move is None or element_bytes(op.output) >= element_bytes(op.input):
            return
        if any(isinstance(use.operation, ReturnOp) for use in op.output.uses):
            return
        if not all(_is_float(number_type(value)) for value in (op.input, op.output)):
            return
        source = move.operands[0]
        if number_type(source) != number_type(op.input):
            return
        kind = tensor_like(op.output, shape_of(source))
        name = name_loc(derived_name(source, f"_{number_type(op.output)}"))
        early = rebuilt(op, operands=(source,), result_types=[kind], location=name)
        moved = rebuilt(
            move, operands=(early.output, *move.operands[1:]), result_types=[op.output.type]
        )
        rewriter.replace(op, [early, moved])
        rewriter.erase(move)


_MOVES: tuple[type[Move], ...] = (tpu.PermuteOp, tpu.ReshapeOp, tpu.SqueezeOp, tpu.UnsqueezeOp)


def _is_float(kind: Attribute) -> bool:
    return isinstance(kind, FLOATS)
