"""Functions of f16 numbers need not be computed in f32."""

from xdsl.dialects.builtin import f16, f32
from xdsl.dialects.func import ReturnOp
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.precision import Precision, precision_of
from xdsl_tpu.passes.graph import producer, rebuilt, tensor_like, users
from xdsl_tpu.passes.tensors import element_of, shape_of

NARROW_MODES: dict[Precision, frozenset[str]] = {
    Precision.FAST: frozenset(("EXP", "GELU", "QGELU", "SIGMOID", "SILU", "TANH", "TGELU")),
    Precision.CLOSE: frozenset(("GELU", "SILU")),
    Precision.FULL: frozenset(),
}
"""The functions that kernels compute in f16 from beginning to end."""


class NarrowActive(RewritePattern):
    """Cast(f16 -> f32) -> Active -> Cast(f32 -> f16) becomes an Active in f16.

        x     : f16
        Cast  : f32
        GELU  : f32    ->    GELU : f16
        Cast  : f16

    for functions with a 16-bit sequence, in the precision that the module asks for; the vendor
    computes them in f32, at twelve times the cycles. Nothing happens when something reads the
    f32 result, or when a Cast makes a result of the function. Not in the vendor's compiler.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.ActiveOp, rewriter: PatternRewriter) -> None:
        before = producer(op.input, tpu.CastOp)
        if before is None or op.mode.data.value not in NARROW_MODES[precision_of(op)]:
            return
        source = before.input
        if element_of(source) != f16 or element_of(op.output) != f32:
            return
        casts = _casts_behind(op.output)
        if not casts:
            return
        kind = tensor_like(source, shape_of(op.output))
        narrow = rebuilt(op, operands=[source], result_types=[kind])
        rewriter.insert(narrow)
        for cast in casts:
            rewriter.replace(cast, (), (narrow.output,))
        rewriter.erase(op)


def _casts_behind(value: SSAValue) -> list[tpu.CastOp]:
    """The users of a value if all are Casts to f16 and none is returned, else nothing."""
    casts: list[tpu.CastOp] = []
    for user in users(value):
        if not isinstance(user, tpu.CastOp) or element_of(user.output) != f16:
            return []
        if any(isinstance(use.operation, ReturnOp) for use in user.output.uses):
            return []
        casts.append(user)
    return casts
