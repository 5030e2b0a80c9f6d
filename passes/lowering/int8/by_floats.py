"""Functions of one number that 16-bit floats compute earlier than a table of 8-bit ones gives."""

from functools import cache
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerType, TensorType, f16, f32
from xdsl.ir import Block, Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.local.measure import measure
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.passes.calibration.ranges import range_of
from xdsl_tpu.passes.calibration.steps import SIGNED_MAX, Step, result_element, step_of
from xdsl_tpu.passes.lowering.activation import Function, function_of
from xdsl_tpu.passes.lowering.context import in_f16
from xdsl_tpu.passes.lowering.int8.functions import is_rectified, line_of
from xdsl_tpu.passes.lowering.int8.soft_ramp import RAMPS
from xdsl_tpu.passes.tensors import shape_of

ELEMENTS = 2048
"""Of a lane, in what is measured."""

USUAL_TERMS = 4
"""Of the polynomial of a ramp."""

BYTE = UniformType.of(8, f32, 1.0)


def float_function_of(
    op: Operation, chip: Chip, asymmetric: bool, ramps: bool = True, level: bool = False
) -> Function | None:
    """The function that an op with a table is to compute in F16, where that is faster with the
    casts around it; None where it is not, as that of a straight line, has zero points, or numbers
    beyond F16. Without `ramps` integers have tables only; `level`: steps of operand and result are
    the same.

    Measured on `ELEMENTS` of each lane, as tables and functions take as long for each element.
    """
    function = plain_function(op)
    if function is None:
        return None
    steps = [step_of(value, asymmetric) for value in (op.operands[0], op.results[0])]
    if not all(map(is_near, steps)) or is_line(op, asymmetric):
        return None
    cycles = taken(function, chip)
    if cycles is None:
        return None
    whole = cycles.between_integers(level) if ramps else cycles.table
    return function if cycles.function + cycles.casts < whole else None


def plain_function(op: Operation) -> Function | None:
    """The function that an op of `top` is, if no ReLU is behind it."""
    return None if is_rectified(op) else function_of(op)


def is_line(op: Operation, asymmetric: bool = False) -> bool:
    """Whether an op of known ranges is a factor in 8 bits."""
    step = step_of(op.operands[0], asymmetric)
    if step is None or range_of(op.results[0]) is None:
        return False
    return line_of(op, step, result_element(op.results[0], asymmetric)) is not None


def is_near(step: Step | None) -> bool:
    """Whether F16 holds what 8 bits do of a range, without a zero point."""
    return step is not None and not step.zero_point and in_f16(step.scale * SIGNED_MAX)


class Taken(NamedTuple):
    """Cycles of a function of `ELEMENTS` of each lane: by a table, in F16 with casts around, and as
    a ramp less a polynomial of the usual length (0: it is none), that between integers of the same
    steps, and that between floats."""

    table: int
    function: int
    casts: int
    ramp: int = 0
    level: int = 0
    short: int = 0

    def between_integers(self, level: bool) -> int:
        """The cycles without floats outside; `level`: steps of operand and result are the same."""
        return min(self.table, (self.level if level else self.ramp) or self.table)

    def best(self, level: bool) -> int:
        """The cycles between integers, one way or the other."""
        return min(self.between_integers(level), self.function + self.casts)

    @property
    def in_floats(self) -> int:
        """The cycles between floats that 8 bits would be enough for."""
        return min(self.function, self.short or self.function)


@cache
def taken(called: Function, chip: Chip) -> Taken | None:
    """What a function takes; None where its scratch memory does not fit."""
    shape = (1, chip.lanes, 1, ELEMENTS)
    bytes_, halves = TensorType(BYTE, shape), TensorType(f16, shape)
    block = Block(arg_types=[bytes_, halves])
    x, y = block.args
    entries = TensorType(IntegerType(8), (1, 1, 1, 256))
    table = top.WeightOp.make("table", (), result_types=[entries]).output
    by_table = tpu.LutOp.make("t", [x, table], result_types=[bytes_])
    terms = (0.5,) * USUAL_TERMS
    ramp, level, short = (
        tpu.SoftRampOp.make("r", [one], result_types=[one.type], factor=by, limit=4.0, terms=terms)
        for one, by in ((x, 0.5), (x, 1.0), (y, 1.0))
    )
    mode, coeffs = called.mode, called.coeffs or None
    function = tpu.ActiveOp.make("f", [y], result_types=[halves], mode=mode, coeffs=coeffs)
    casts = [
        tpu.CastOp.make("i", [x], result_types=[halves], with_scale=True),
        tpu.CastOp.make("o", [y], result_types=[bytes_], with_scale=True),
    ]
    try:
        around = sum(_cycles(one, chip) for one in casts)
        ramps = [_cycles(one, chip) if mode in RAMPS else 0 for one in (ramp, level, short)]
        return Taken(_cycles(by_table, chip), _cycles(function, chip), around, *ramps)
    except DoesNotFit:
        return None


def _cycles(op: Operation, chip: Chip) -> int:
    def sizes(value: SSAValue) -> Ncdhw:
        n, c, h, w = shape_of(value)
        return Ncdhw(n, c, 1, h, w)

    return measure(op, sizes, GroupType.NORMAL, chip).cycles
