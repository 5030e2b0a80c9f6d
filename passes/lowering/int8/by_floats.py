"""Functions of one number that 16-bit floats compute earlier than a table of 8-bit ones gives."""

from functools import cache

from xdsl.dialects.builtin import IntegerType, TensorType, f16, f32
from xdsl.ir import Block, Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.local.measure import measure
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.dialects.tpu.enums import ActiveMode
from xdsl_tpu.passes.calibration.steps import SIGNED_MAX, Step, step_of
from xdsl_tpu.passes.lowering.activation import GELU_MODES, IN_F32, IN_MODE
from xdsl_tpu.passes.lowering.context import F16_REACH, LoweringContext
from xdsl_tpu.passes.tensors import shape_of

ELEMENTS = 2048
"""Of a lane, in what is measured."""

BYTE = UniformType.of(8, f32, 1.0)


def float_mode_of(op: Operation, ctx: LoweringContext) -> ActiveMode | None:
    """The function that an op with a table is to compute in F16, where that is faster with the
    casts around it; None where it is not, has zero points, or numbers beyond F16.

    Measured on `ELEMENTS` of each lane, as tables and functions take as long for each element.
    """
    mode = _function(op)
    steps = [step_of(value, ctx.asymmetric) for value in (op.operands[0], op.results[0])]
    if mode is None or ctx.by_tables or not all(map(_is_near, steps)):
        return None
    return mode if _gains(mode, ctx.chip) else None


def _function(op: Operation) -> ActiveMode | None:
    if "do_relu" in op.attributes and str(op.attributes["do_relu"]) == "true":
        return None
    if isinstance(op, top.GELUOp):
        return GELU_MODES[op.approx_mode.data]
    if isinstance(op, top.SigmoidOp):
        plain = (op.scale.value.data, op.bias.value.data, op.log.value.data) == (1.0, 0.0, False)
        return ActiveMode.SIGMOID if plain else None
    return (IN_F32 | IN_MODE).get(type(op))


def _is_near(step: Step | None) -> bool:
    return step is not None and not step.zero_point and step.scale * SIGNED_MAX <= F16_REACH


@cache
def _gains(mode: ActiveMode, chip: Chip) -> bool:
    shape = (1, chip.lanes, 1, ELEMENTS)
    bytes_, halves = TensorType(BYTE, shape), TensorType(f16, shape)
    block = Block(arg_types=[bytes_, halves])
    x, y = block.args
    entries = TensorType(IntegerType(8), (1, 1, 1, 256))
    table = top.WeightOp.make("table", (), result_types=[entries]).output
    by_table = tpu.LutOp.make("t", [x, table], result_types=[bytes_])
    by_floats = [
        tpu.CastOp.make("i", [x], result_types=[halves], with_scale=True),
        tpu.ActiveOp.make("f", [y], result_types=[halves], mode=mode),
        tpu.CastOp.make("o", [y], result_types=[bytes_], with_scale=True),
    ]
    try:
        return sum(_cycles(one, chip) for one in by_floats) < _cycles(by_table, chip)
    except DoesNotFit:
        return False


def _cycles(op: Operation, chip: Chip) -> int:
    def sizes(value: SSAValue) -> Ncdhw:
        n, c, h, w = shape_of(value)
        return Ncdhw(n, c, 1, h, w)

    return measure(op, sizes, GroupType.NORMAL, chip).cycles
