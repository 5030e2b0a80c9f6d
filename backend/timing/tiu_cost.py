"""Cycles of TIU commands.

The estimate that the vendor's compiler prints, probed command by command against tpu-mlir 1.30.2
(docs/accuracy.md says how far); it is static: no start-up latency and no contention. E is the
elements that one lane handles per cycle, in the widest type involved.
"""

import math
from collections.abc import Callable

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.tensor import ceil_div
from xdsl_tpu.dialects.errors import TpuError

_BYTES = {0: 1, 1: 2, 2: 4, 3: 2, 4: 4, 5: 2, 6: 1}
"""Element bytes by precision code; int4 counts as int8 (an estimate, no data)."""

_INT4 = 6
_FREE_STRIDES = 3
_DIV_PASSES, _DIV_ITERATION_PASSES = 15, 8  # of the first Newton iteration, of each one more
_RSQRT_PASSES = 30  # whatever the number of iterations


def element_bytes(command: Command, field: str) -> int:
    """Bytes of the element type in a `*_prec` field; raises TpuError for an unknown code."""
    code = command[field]
    if code not in _BYTES or (code == _INT4 and field == "src_data_format"):
        raise TpuError(f"{command.form.name}: no cycle formula for {field} = {code}")
    return _BYTES[code]


def tiu_cycles(command: Command, chip: Chip) -> int:
    """Cycles that a TIU command occupies the engine, at least 1 (end markers: 0).

    Raises TpuError for a form whose cost is not known.
    """
    family = command.form.family
    if family == "SYSID":
        return 0
    cost = _FAMILIES.get(family)
    if cost is None:
        raise TpuError(f"no cycle formula for {command.form.name} ({command.function_name})")
    return max(1, cost(command, chip))


def _base(command: Command, chip: Chip, width: int) -> int:
    """Passes over the result, one EU width per lane each; `width` in bytes of one element."""
    elements = command["res0_h"] * command["res0_w"]
    return command["res0_n"] * _groups(command, chip) * ceil_div(elements, chip.eu(width))


def _groups(command: Command, chip: Chip) -> int:
    """Rounds of lanes that the result's channels take from the lane on which it starts.

    Address bits beyond local memory do not count.
    """
    lane = (command["res0_addr"] >> chip.lane_shift) % chip.lanes
    return ceil_div(lane + command["res0_c"], chip.lanes)


_FREE_IN_PLACE = frozenset({18, 19})  # mac and copy: not slower where the result is an operand


def _arith(command: Command, chip: Chip) -> int:
    widths = [element_bytes(command, "res0_prec"), element_bytes(command, "opd1_prec")]
    if not command["opd0_const"]:
        widths.append(element_bytes(command, "opd0_prec"))
    width = max(widths)
    base = _base(command, chip, width)
    if command.function == 12:
        passes = _DIV_PASSES + _DIV_ITERATION_PASSES * command["opd2_n_str"]
        return base * max(passes, _stride_factor(command, chip.eu(width)))
    if command.function not in _FREE_IN_PLACE and _in_place(command):
        base *= 2
    return base * _stride_factor(command, chip.eu(width))


def _tensor_operands(command: Command) -> list[str]:
    names = ["opd0", "opd1"][: min(command["tsk_opd_num"], 2)]
    return [name for name in names if not command[f"{name}_const"]]


def _in_place(command: Command) -> bool:
    result = command["res0_addr"]
    return any(command[f"{name}_addr"] == result for name in _tensor_operands(command))


def _stride_factor(command: Command, eu: int) -> int:
    """Lines read or written per line of the result: those of both operands, or of the result."""
    h, w = command["res0_h"], command["res0_w"]

    def lines(names: list[str]) -> int:
        strided = [name for name in names if command[f"{name}_str"] == _FREE_STRIDES]
        strides = ((command[f"{name}_h_str"], command[f"{name}_w_str"]) for name in strided)
        return sum(_gap_factor(h_stride, w_stride, h, w, eu) for h_stride, w_stride in strides)

    return max(1, lines(_tensor_operands(command)), lines(["res0"]))


def _gap_factor(h_stride: int, w_stride: int, h: int, w: int, eu: int) -> int:
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


def _compare(command: Command, chip: Chip) -> int:
    width = max(element_bytes(command, "opd0_prec"), element_bytes(command, "opd2_prec"))
    return 2 * _base(command, chip, width)


def _sfu(command: Command, chip: Chip) -> int:
    width = max(element_bytes(command, "res0_prec"), element_bytes(command, "opd0_prec"))
    passes = {12: command["opd1_n"], 13: command["opd1_n"], 17: _RSQRT_PASSES}
    return passes.get(command.function, 1) * _base(command, chip, width)


_MM_WITH_BIAS = frozenset({2, 3})  # of 8-bit integers; those of function 1 have a shift there


def _conv(command: Command, chip: Chip) -> int:
    """CONV; a fused requantisation (functions 1, 2) is free.

    An estimate without data: int4 takes twice as many channels per cycle as int8, the width of its
    filter blocks.
    """
    width = element_bytes(command, "opd0_prec")
    pixels = ceil_div(command["res0_h"] * command["res0_w"], chip.cube_outputs[width])
    channels = ceil_div(command["opd0_c"], chip.input_channels(command["opd0_prec"]))
    groups = ceil_div(command["res0_c"], chip.lanes)
    return command["res0_n"] * groups * pixels * channels * command["opd1_h"] * command["opd1_w"]


def _matmul(command: Command, chip: Chip) -> int:
    """MM: one k per cycle and 16 f32 or 64 integer results, of any width.

    An accumulated result counts as one k, and a bias, too.
    """
    rows = command["opd0_n"]
    depth = command["opd0_w"] * (command["opd0_c"] - 1) + command["opd1_w"]
    if command["left_tran"]:
        rows, depth = depth, rows
    is_f32 = command["opd0_prec"] == 2
    has_bias = not command["opd2_const"] and (is_f32 or command.function in _MM_WITH_BIAS)
    depth += command["res_add"] + has_bias
    groups = _groups(command, chip)
    return rows * groups * ceil_div(command["res0_w"], chip.eu(4 if is_f32 else 1)) * depth


def _matmul2(command: Command, chip: Chip) -> int:
    """MM2; int4 as in CONV, without data."""
    width = element_bytes(command, "opd0_prec")
    depth = command["opd1_c"] if command.function == 4 else command["opd1_w"]
    rows = ceil_div(command["res0_c"], chip.lanes)
    columns = ceil_div(command["res0_w"], chip.cube_outputs[width])
    return rows * columns * ceil_div(depth, chip.input_channels(command["opd0_prec"]))


def _pool(command: Command, chip: Chip) -> int:
    """Pools and depthwise convolution; a kernel of one row works row by row."""
    width = max(element_bytes(command, "res0_prec"), element_bytes(command, "opd0_prec"))
    h, w, kernel_h = command["res0_h"], command["res0_w"], command["opd1_h"]
    eu = chip.eu(width)
    chunks = ceil_div(h * w, eu) if kernel_h > 1 else h * ceil_div(w, eu)
    strided = command["res_op_x_str"] > 1 and command["res_op_y_str"] > 1
    taps = kernel_h * command["opd1_w"]
    return command["res0_n"] * _groups(command, chip) * chunks * taps * (3 if strided else 1)


def _requant(command: Command, chip: Chip) -> int:
    banks = {
        (command[field] & (chip.local_bytes - 1)) // chip.bank_bytes
        for field in ("res0_addr", "opd0_addr")
    }
    return _base(command, chip, 4) * (2 if len(banks) == 1 else 1)


def _transpose_broadcast(command: Command, chip: Chip) -> int:
    width = element_bytes(command, "res0_prec")
    eu = chip.eu(width)
    n, c, h, w = (command[f"res0_{axis}"] for axis in "nchw")
    match command.function:
        case 0:
            return n * h * ceil_div(c, eu)
        case 1:
            return n * h * ceil_div(w, eu)
        case 2:
            return c * _base(command, chip, width) * _one_bank(command, chip)
        case 3:
            return _base(command, chip, width) * _one_bank(command, chip)
        case 4:
            return ceil_div(w, eu)
        case _:
            return ceil_div(c, eu)


def _one_bank(command: Command, chip: Chip) -> int:
    """2 when result and operand start in the same bank of the same lane, else 1."""
    starts = {command[field] // chip.bank_bytes for field in ("res0_addr", "opd0_addr")}
    return 2 if len(starts) == 1 else 1


_SCATTERS = frozenset({3, 4, 6, 14})
_GATHER_LINES = 17
_SEQUENTIAL = {13: 1.5, 14: 1.5, 15: 3}  # factors where operands share banks


def _gather(command: Command, chip: Chip) -> int:
    """SG: one element per lane and cycle; a scatter takes those of its operand."""
    scatters = command.function in _SCATTERS
    elements = command["opd0_h"] * command["opd0_w"] if scatters else command["res0_w"]
    elements *= command["res0_n"] * _groups(command, chip)
    return math.floor(elements * _SEQUENTIAL.get(command.function, 1))


def _gather_lines(command: Command, chip: Chip) -> int:
    """SGL: lines read and written; a scatter takes those of its operand."""
    lines = command["res0_h"] if command.function == _GATHER_LINES else command["opd0_h"]
    chunks = ceil_div(command["res0_w"], chip.eu(element_bytes(command, "res0_prec")))
    return 2 * command["res0_n"] * _groups(command, chip) * lines * chunks


def _linear(command: Command, chip: Chip) -> int:
    """LIN: one pass over the result."""
    return _base(command, chip, element_bytes(command, "res0_prec"))


def _vector(command: Command, chip: Chip) -> int:
    """VC: one pass over the result, whose rows are the first vector."""
    width = max(element_bytes(command, f"{name}_prec") for name in ("res0", "opd0", "opd1"))
    rows = (command["opd0_c"] - 1) * command["opd0_w"] + command["opd1_w"]
    return rows * _groups(command, chip) * ceil_div(command["res0_w"], chip.eu(width))


_FAMILIES: dict[str, Callable[[Command, Chip], int]] = {
    "AR": _arith,
    "CMP": _compare,
    "CONV": _conv,
    "LIN": _linear,
    "MM": _matmul,
    "MM2": _matmul2,
    "PorD": _pool,
    "RQ_DQ": _requant,
    "SFU": _sfu,
    "SG": _gather,
    "SGL": _gather_lines,
    "TRANS_BC": _transpose_broadcast,
    "VC": _vector,
}
