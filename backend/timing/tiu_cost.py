"""Cycles of TIU commands.

Formulas of the BM1684X cycle reference, section 3, which reproduces the estimate that the
vendor's compiler prints; it is static: no start-up latency and no bank conflicts. In all of
them `blocks` is the number of channel groups per lane and E the elements one lane handles per
cycle in the widest type involved.
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
_DIV_PASSES = 31  # seen for 3 Newton iterations only
_RSQRT_PASSES = 30  # the same for 2 and 3 iterations


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
    lane = _lane(command, chip)
    blocks = ceil_div(lane + command["res0_c"], chip.lanes)
    elements = command["res0_h"] * command["res0_w"]
    return command["res0_n"] * blocks * ceil_div(elements, chip.eu(width))


def _lane(command: Command, chip: Chip) -> int:
    """The lane on which the result starts; bits beyond local memory do not count."""
    return (command["res0_addr"] >> chip.lane_shift) % chip.lanes


def _arith(command: Command, chip: Chip) -> int:
    widths = [element_bytes(command, "res0_prec"), element_bytes(command, "opd1_prec")]
    if not command["opd0_const"]:
        widths.append(element_bytes(command, "opd0_prec"))
    width = max(widths)
    base = _base(command, chip, width)
    if command.function == 12:
        return _DIV_PASSES * base
    if command.function != 19 and _in_place(command):
        base *= 2
    return base * _two_strided(command) * _row_factor(command, chip.eu(width))


def _tensor_operands(command: Command) -> list[str]:
    names = ["opd0", "opd1"][: min(command["tsk_opd_num"], 2)]
    return [name for name in names if not command[f"{name}_const"]]


def _in_place(command: Command) -> bool:
    result = command["res0_addr"]
    return any(command[f"{name}_addr"] == result for name in _tensor_operands(command))


def _two_strided(command: Command) -> int:
    """2 when both operands are read with explicit strides, but not when opd1 repeats along w."""
    strided = [n for n in _tensor_operands(command) if command[f"{n}_str"] == _FREE_STRIDES]
    repeats_along_w = command["opd1_w_str"] == 0 and command["opd1_h_str"] != 0
    return 2 if len(strided) == 2 and not repeats_along_w else 1


def _row_factor(command: Command, eu: int) -> int:
    """Extra passes for rows that do not lie one behind the other."""
    names = ["res0", *_tensor_operands(command)]
    strided = [n for n in names if command[f"{n}_str"] == _FREE_STRIDES]
    h, w = command["res0_h"], command["res0_w"]
    factors = [_gap_factor(command[f"{n}_h_str"], command[f"{n}_w_str"], h, w, eu) for n in strided]
    return max(factors, default=1)


def _gap_factor(h_stride: int, w_stride: int, h: int, w: int, eu: int) -> int:
    """The `row` factor of one tensor; an empirical fit, see the reference for its range."""
    if w_stride > 1:
        return min(w_stride, eu)
    if w_stride != 1 or h_stride <= w:
        return 1
    chunks = ceil_div(h * w, eu)
    if w > max(math.gcd(h_stride, eu), 7):
        lines = 2 * h if h_stride >= 1.5 * eu else h * h_stride / eu
    else:
        lines = h if h_stride >= eu else ceil_div(h * h_stride, eu)
    return max(1, math.floor(lines / chunks))


def _compare(command: Command, chip: Chip) -> int:
    return 2 * _base(command, chip, element_bytes(command, "opd0_prec"))


def _sfu(command: Command, chip: Chip) -> int:
    width = max(element_bytes(command, "res0_prec"), element_bytes(command, "opd0_prec"))
    passes = {12: command["opd1_n"], 13: command["opd1_n"], 17: _RSQRT_PASSES}
    return passes.get(command.function, 1) * _base(command, chip, width)


def _conv(command: Command, chip: Chip) -> int:
    """CONV; estimates without data: a fused requantisation (functions 1, 2) is free, and int4
    takes twice as many channels per cycle as int8, the width of its filter blocks.
    """
    width = element_bytes(command, "opd0_prec")
    pixels = ceil_div(command["res0_h"] * command["res0_w"], chip.cube_outputs[width])
    channels = ceil_div(command["opd0_c"], chip.input_channels(command["opd0_prec"]))
    groups = ceil_div(command["res0_c"], chip.lanes)
    return command["res0_n"] * groups * pixels * channels * command["opd1_h"] * command["opd1_w"]


def _matmul(command: Command, chip: Chip) -> int:
    """MM: one k per cycle and EU element; a bias or an accumulated result counts as one k.

    That a fused requantisation (functions 2, 3) is free is an estimate, no data.
    """
    depth = command["opd0_w"] * (command["opd0_c"] - 1) + command["opd1_w"]
    is_f32 = command["opd0_prec"] == 2
    depth += command["res_add"] + int(is_f32 and not command["opd2_const"])
    eu = chip.eu(element_bytes(command, "opd0_prec"))
    groups = ceil_div(command["res0_c"], chip.lanes)
    return command["opd0_n"] * groups * ceil_div(command["res0_w"], eu) * depth


def _matmul2(command: Command, chip: Chip) -> int:
    """MM2; for tt an estimate from nn and nt, for int4 as in CONV, no data."""
    width = element_bytes(command, "opd0_prec")
    depth = command["opd1_c"] if command.function == 4 else command["opd1_w"]
    rows = ceil_div(command["res0_c"], chip.lanes)
    columns = ceil_div(command["res0_w"], chip.cube_outputs[width])
    return rows * columns * ceil_div(depth, chip.input_channels(command["opd0_prec"]))


def _pool(command: Command, chip: Chip) -> int:
    """Pools and depthwise convolution; a kernel of one row works row by row."""
    width = max(element_bytes(command, "res0_prec"), element_bytes(command, "opd0_prec"))
    lane = _lane(command, chip)
    blocks = ceil_div(lane + command["res0_c"], chip.lanes)
    h, w, kernel_h = command["res0_h"], command["res0_w"], command["opd1_h"]
    eu = chip.eu(width)
    chunks = ceil_div(h * w, eu) if kernel_h > 1 else h * ceil_div(w, eu)
    strided = command["res_op_x_str"] > 1 and command["res_op_y_str"] > 1
    taps = kernel_h * command["opd1_w"]
    return command["res0_n"] * blocks * chunks * taps * (3 if strided else 1)


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
            return c * _base(command, chip, width)
        case 3:
            same = command["res0_addr"] == command["opd0_addr"]
            return _base(command, chip, width) * (2 if same else 1)
        case 4:
            return ceil_div(w, eu)
        case _:
            return 1


def _gather(command: Command, chip: Chip) -> int:
    """One element per lane and cycle; scatters were seen only with a handful of elements."""
    if command.function in (6, 14):
        return 1
    elements = command["res0_n"] * ceil_div(command["res0_c"], chip.lanes) * command["res0_w"]
    return math.floor(1.5 * elements) if command.function == 13 else elements


def _linear(command: Command, chip: Chip) -> int:
    """LIN: an estimate, no data; one pass over the result as for AR."""
    return _base(command, chip, element_bytes(command, "res0_prec"))


def _vector(command: Command, chip: Chip) -> int:
    """VC: an estimate, no data; one pass over the result, whose rows are the first vector."""
    width = max(element_bytes(command, f"{name}_prec") for name in ("res0", "opd0", "opd1"))
    rows = (command["opd0_c"] - 1) * command["opd0_w"] + command["opd1_w"]
    lane = _lane(command, chip)
    groups = ceil_div(lane + command["res0_c"], chip.lanes)
    return rows * groups * ceil_div(command["res0_w"], chip.eu(width))


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
    "TRANS_BC": _transpose_broadcast,
    "VC": _vector,
}
