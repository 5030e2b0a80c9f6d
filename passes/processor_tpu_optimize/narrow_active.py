"""Functions of 16-bit numbers need no results in f32."""

from xdsl.dialects.builtin import TensorType, bf16, f16, f32
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.precision import Precision, precision_of
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.passes.calibration.steps import step_of
from xdsl_tpu.passes.graph import derived_name, producer, rebuilt, tensor_like, users
from xdsl_tpu.passes.lowering.int8.by_floats import is_near
from xdsl_tpu.passes.tensors import element_of, number_type, shape_of

NARROW_MODES: dict[Precision, frozenset[str]] = {
    Precision.FAST: frozenset(
        (
            *("COS", "ELU", "EXP", "GELU", "HSWISH", "MISH", "QGELU", "SIGMOID", "SILU"),
            *("SIN", "TANH", "TGELU"),
        )
    ),
    Precision.CLOSE: frozenset(("COS", "GELU", "SILU", "SIN")),
    Precision.FULL: frozenset(),
}
"""The functions that kernels compute in f16 from beginning to end, and that lose by it. Others
are the same to the bit, but for readers of f32."""


class NarrowActive(RewritePattern):
    """Cast(f16 -> f32) -> Active -> Cast(f32 -> f16) becomes an Active in f16; so it does in bf16.

        x     : f16
        Cast  : f32
        GELU  : f32    ->    GELU : f16
        Cast  : f16

    for functions with a 16-bit sequence, in the precision that the module asks for; the vendor
    computes them in f32, at twelve times the cycles. Kernels compute all functions of bf16 numbers
    in f32, tile by tile, which is the same. What reads the f32 result besides, as the mean of a
    squeeze-and-excitation does, gets a Cast of the 16-bit one, which the others work with anyway:

        SILU  : f32                         SILU  : f16
        Cast  : f16    Pool2D : f32    ->   Cast  : f32
                                            Pool2D : f32

    Integers of 8 bits whose range f16 holds, without a zero point, are cast to f16 as well as to
    f32, and made of it:

        x     : i8           x     : i8          x     : f16
        Cast  : f32          Cast  : f16         Cast  : f32          x     : f16
        SILU  : f32    ->    SILU  : f16         SILU  : f32    ->    SILU  : f16
        Cast  : f16                              Cast  : i8           Cast  : i8

    Nothing happens when no Cast is behind the function, or when a result of the network is made of
    it at once. Not in the vendor's compiler.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.ActiveOp, rewriter: PatternRewriter) -> None:
        before = producer(op.input, tpu.CastOp)
        if before is None or number_type(op.output) != f32:
            return
        source = before.input
        kind = f16 if _is_near(source) else number_type(source)
        sequences = NARROW_MODES[precision_of(op)]
        if kind != bf16 and not (kind == f16 and op.mode.data.value in sequences):
            return
        casts = _casts_behind(op.output, kind)
        if not casts:
            return
        if number_type(source) != kind:
            given = TensorType(kind, shape_of(source))
            short = rebuilt(before, operands=[source], result_types=[given])
            short.location = name_loc(derived_name(before, "_f16"))
            rewriter.insert(short)
            source = short.output
        narrow_type = tensor_like(source, shape_of(op.output))
        narrow = rebuilt(op, operands=[source], result_types=[narrow_type])
        rewriter.insert(narrow)
        for cast in casts:
            if number_type(cast.output) == kind:
                rewriter.replace(cast, (), (narrow.output,))
            else:
                rewriter.replace(cast, [rebuilt(cast, operands=[narrow.output])])
        if op.output.uses:
            name = derived_name(op, "_f32")
            wide = tpu.CastOp.make(name, (narrow.output,), result_types=[op.output.type])
            rewriter.replace(op, [wide])
        else:
            rewriter.erase(op)


def _is_near(value: SSAValue) -> bool:
    """Whether a value is in 8 bits and f16 holds all that these stand for."""
    return isinstance(element_of(value), UniformType) and is_near(step_of(value))


def _casts_behind(value: SSAValue, kind: Attribute) -> list[tpu.CastOp]:
    """The Casts of a value to this type, or to 8 bits whose range f16 holds; nothing if it is
    returned, by itself or as such."""
    casts: list[tpu.CastOp] = []
    for user in users(value):
        if isinstance(user, ReturnOp):
            return []
        if not isinstance(user, tpu.CastOp):
            continue
        if number_type(user.output) != kind and not (kind == f16 and _is_near(user.output)):
            continue
        if any(isinstance(use.operation, ReturnOp) for use in user.output.uses):
            return []
        casts.append(user)
    return casts
