"""Cycles of TIU commands.

The estimate that the vendor's compiler prints, probed command by command against tpu-mlir 1.30.2
(docs/accuracy.md says how far); it is static: no start-up latency and no contention. Which formula
applies to which fields is declared with the instruction. E is the elements that one lane handles
per cycle, in the widest type involved.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import AR, ELEMENT_BYTES, LayoutCode, Precision
from xdsl_tpu.backend.isa.costs import (
    Array,
    Cost,
    ElementWise,
    Free,
    OneBank,
    Passes,
    Products,
    Windows,
)
from xdsl_tpu.backend.isa.terms import Term, value_of
from xdsl_tpu.backend.tensor import ceil_div
from xdsl_tpu.dialects.errors import TpuError

_BYTES = ELEMENT_BYTES | {Precision.I4: 1}
"""Element bytes by precision code; int4 counts as int8 (an estimate, no data)."""


def element_bytes(command: Command, field: str) -> int:
    """Bytes of the element type in a `*_prec` field; raises TpuError for an unknown code."""
    code = command[field]
    if code not in _BYTES:
        raise TpuError(f"{command.form.name}: no cycle formula for {field} = {code}")
    return _BYTES[code]


def tiu_cycles(command: Command, chip: Chip) -> int:
    """Cycles that a TIU command occupies the engine, at least 1 (end markers and the like: 0).

    Raises TpuError for a form whose cost is not known.
    """
    cost = command.instruction.cost
    if isinstance(cost, Free) or _is_priming(command, chip, cost):
        return 0
    formula = _FORMULAS.get(type(cost))
    if formula is None:
        raise TpuError(f"no cycle formula for {command.form.name} ({command.function_name})")
    return max(1, formula(command, chip, cost))


def _is_priming(command: Command, chip: Chip, cost: Cost | None) -> bool:
    """Whether this is the copy that goes in front of commands of `primed` forms."""
    if not isinstance(cost, ElementWise) or not cost.free_at_end or command.function != AR.COPY:
        return False
    last = chip.lanes * chip.local_bytes - chip.eu_bytes
    return command["res0_addr"] == command["opd0_addr"] == last


def _product(terms: Sequence[Term], command: Command, chip: Chip) -> int:
    result = 1
    for term in terms:
        result *= value_of(term, command, chip)
    return result


def _rounds(command: Command, chip: Chip) -> int:
    """Rounds of lanes that the result's channels take from the lane on which it starts.

    Address bits beyond local memory do not count.
    """
    lane = (command["res0_addr"] >> chip.lane_shift) % chip.lanes
    return ceil_div(lane + command["res0_c"], chip.lanes)


def _passes(command: Command, chip: Chip, cost: Passes) -> int:
    types = cost.types
    width = types if isinstance(types, int) else max(element_bytes(command, t) for t in types)
    lines = ceil_div(_product(cost.line, command, chip), chip.eu(width))
    count = _product(cost.times, command, chip) * lines
    if cost.rounds:
        count *= _rounds(command, chip)
    if cost.one_bank is not OneBank.NEVER and _in_one_bank(command, chip, cost.one_bank):
        count *= 2
    return count if cost.factor == 1 else math.floor(count * cost.factor)


def _in_one_bank(command: Command, chip: Chip, which: OneBank) -> bool:
    """Whether result and operand start in the same bank."""
    mask = chip.local_bytes - 1 if which is OneBank.OF_A_LANE else -1
    starts = ((command[field] & mask) // chip.bank_bytes for field in ("res0_addr", "opd0_addr"))
    return len(set(starts)) == 1


def _element_wise(command: Command, chip: Chip, cost: ElementWise) -> int:
    """AR; a constant first operand does not count for the width."""
    width = max(element_bytes(command, "res0_prec"), element_bytes(command, "opd1_prec"))
    if not command["opd0_const"]:
        width = max(width, element_bytes(command, "opd0_prec"))
    eu = chip.eu(width)
    elements = command["res0_h"] * command["res0_w"]
    base = command["res0_n"] * _rounds(command, chip) * ceil_div(elements, eu)
    operands = _tensor_operands(command)
    lines = _stride_factor(command, operands, eu)
    newton = cost.newton.get(command.function)
    if newton is not None:
        first, more = newton
        return base * max(first + more * command["opd2_n_str"], lines)
    if command.function not in cost.free_in_place and _in_place(command, operands):
        base *= 2
    return base * lines


def _tensor_operands(command: Command) -> list[str]:
    names = ("opd0", "opd1")[: min(command["tsk_opd_num"], 2)]
    return [name for name in names if not command[f"{name}_const"]]


def _in_place(command: Command, operands: list[str]) -> bool:
    result = command["res0_addr"]
    return any(command[f"{name}_addr"] == result for name in operands)


def _stride_factor(command: Command, operands: list[str], eu: int) -> int:
    """Lines read or written per line of the result: those of both operands, or of the result."""
    h, w = command["res0_h"], command["res0_w"]

    def lines(names: Sequence[str]) -> int:
        strided = [name for name in names if command[f"{name}_str"] == LayoutCode.FREE]
        strides = ((command[f"{name}_h_str"], command[f"{name}_w_str"]) for name in strided)
        return sum(gap_factor(h_stride, w_stride, h, w, eu) for h_stride, w_stride in strides)

    return max(1, lines(operands), lines(("res0",)))


def gap_factor(h_stride: int, w_stride: int, h: int, w: int, eu: int) -> int:
    """Lines of `eu` elements that one tensor's rows lie on, per line that they would fill.

    Rows far apart, or each on a line of its own, count the lines of the second row; 0 where
    many rows share a line.
    """
    if w_stride > 1:
        return min(w_stride, eu)
    if h_stride == 0:
        return 1
    apart = h_stride >= eu + w or h_stride % eu == 0
    lines = h * ceil_div(h_stride % eu + w, eu) if apart else ceil_div(h * h_stride, eu)
    return lines // ceil_div(h * w, eu)


def _array(command: Command, chip: Chip, cost: Array) -> int:
    """CONV and MM2; a fused requantisation is free.

    An estimate without data: int4 takes twice as many channels per cycle as int8, the width of its
    filter blocks.
    """
    code, width = command["opd0_prec"], element_bytes(command, "opd0_prec")
    rows = ceil_div(value_of(cost.rows, command, chip), chip.lanes)
    columns = ceil_div(_product(cost.columns, command, chip), chip.cube_outputs[width])
    depth = ceil_div(value_of(cost.depth, command, chip), chip.input_channels(code))
    return _product(cost.times, command, chip) * rows * columns * depth


def _products(command: Command, chip: Chip, cost: Products) -> int:
    """MM: one k per cycle and 16 f32 or 64 integer results, of any width."""
    is_f32 = command["opd0_prec"] == Precision.F32
    has_bias = not command["opd2_const"] and (is_f32 or command.function in cost.biased)
    depth = value_of(cost.depth, command, chip) + command["res_add"] + has_bias
    columns = ceil_div(command["res0_w"], chip.eu(4 if is_f32 else 1))
    return value_of(cost.rows, command, chip) * _rounds(command, chip) * columns * depth


def _windows(command: Command, chip: Chip, cost: Windows) -> int:
    """Pools and depthwise convolution; a kernel of one row works row by row."""
    width = max(element_bytes(command, "res0_prec"), element_bytes(command, "opd0_prec"))
    h, w, kernel_h = command["res0_h"], command["res0_w"], command["opd1_h"]
    eu = chip.eu(width)
    chunks = ceil_div(h * w, eu) if kernel_h > 1 else h * ceil_div(w, eu)
    strided = command["res_op_x_str"] > 1 and command["res_op_y_str"] > 1
    taps = kernel_h * command["opd1_w"] * (cost.strided if strided else 1)
    return command["res0_n"] * _rounds(command, chip) * chunks * taps


_FORMULAS: dict[type, Callable[[Command, Chip, Any], int]] = {
    Array: _array,
    ElementWise: _element_wise,
    Passes: _passes,
    Products: _products,
    Windows: _windows,
}
