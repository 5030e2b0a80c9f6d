"""Operands of the TIU commands (docs/hardware/instructions.md)."""

from collections.abc import Iterator
from dataclasses import replace

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.operands.access import (
    INT4,
    Access,
    AccessRule,
    Operand,
    element_bytes,
    result_shape,
    tensor_of,
    tensor_or_int4,
)
from xdsl_tpu.backend.tensor import Shape4, align, ceil_div
from xdsl_tpu.dialects.errors import TpuError

_WORD = 4  # bytes of f32 and i32 parameters
_HALF_WORD = 2  # and of i16 ones
_FREE = 3
_LANE_TABLE = 4
_FLOATS = {1, 2, 5}
_INT4_FUNCTIONS = {14, 19}  # of sAR: casts and copies


def _laid_out(command: Command, chip: Chip, operand: Operand) -> Access:
    """The layout that the operand's `*_str` field selects."""
    layout = command[f"{operand.name}_str"]
    if layout and command[f"{operand.name}_prec"] == INT4:
        raise TpuError(f"{operand.name}_str = {layout}: int4 is known only in layout 0")
    if layout == 0:
        return operand.eu_aligned(chip)
    if layout != _FREE:
        raise TpuError(f"{operand.name}_str = {layout}: only layouts 0 and 3 are known here")
    n, c, h, w = (command[f"{operand.name}_{axis}_str"] for axis in "nchw")
    return operand.strided((n, c, h, w))


def arith(command: Command, chip: Chip) -> Iterator[Access]:
    """sAR: up to two operands of the result's shape; a third one must be a constant."""
    shape = result_shape(command)
    place = tensor_or_int4 if command.function in _INT4_FUNCTIONS else tensor_of
    if command["tsk_opd_num"] > 2 and not command["opd2_const"]:
        raise TpuError("the layout of a third operand that is no constant is not known")
    for name in ("opd0", "opd1")[: command["tsk_opd_num"]]:
        if not command[f"{name}_const"]:
            operand = place(command, name, shape, command[f"{name}_prec"])
            yield _laid_out(command, chip, operand)
    result = place(command, "res0", shape, command["res0_prec"], writes=True)
    yield _laid_out(command, chip, result)


def compare(command: Command, chip: Chip) -> Iterator[Access]:
    """sCMP: four EU-aligned operands of the result's shape."""
    for name in ("opd0", "opd1", "opd2", "opd3"):
        if command[f"{name}_str"] and not command[f"{name}_const"]:
            raise TpuError(f"{name}_str = {command[f'{name}_str']}: only layout 0 is known here")
    shape = result_shape(command)
    codes = {"opd0": "opd0_prec", "opd1": "opd0_prec", "opd2": "opd2_prec", "opd3": "opd2_prec"}
    for name, code in codes.items():
        if not command[f"{name}_const"]:
            yield tensor_of(command, name, shape, command[code]).eu_aligned(chip)
    if command.function in (22, 25):
        yield tensor_of(command, "res0", shape, command["opd0_prec"], writes=True).eu_aligned(chip)
        yield tensor_of(command, "res1", shape, command["opd2_prec"], writes=True).eu_aligned(chip)
    else:
        yield tensor_of(command, "res0", shape, command["opd2_prec"], writes=True).eu_aligned(chip)


def taylor(command: Command, chip: Chip) -> Iterator[Access]:
    """sSFU polynomials: every lane of the result has its own coefficients at one offset."""
    yield tensor_of(command, "opd0", result_shape(command), command["opd0_prec"]).eu_aligned(chip)
    shape = (1, min(command["res0_c"], chip.lanes), 1, command["opd1_n"])
    lane = command["res0_addr"] >> chip.lane_shift
    offset = command["opd1_addr"] & (chip.local_bytes - 1)
    size = element_bytes(command["opd0_prec"])
    yield Operand("opd1", lane << chip.lane_shift | offset, shape, size).strided((0, 0, 0, 1))
    yield from _result(command, chip)


def unary(command: Command, chip: Chip) -> Iterator[Access]:
    """One EU-aligned operand and result of one shape."""
    yield tensor_of(command, "opd0", result_shape(command), command["opd0_prec"]).eu_aligned(chip)
    yield from _result(command, chip)


def _result(command: Command, chip: Chip) -> Iterator[Access]:
    shape = result_shape(command)
    yield tensor_of(command, "res0", shape, command["res0_prec"], writes=True).eu_aligned(chip)


def conv(command: Command, chip: Chip) -> Iterator[Access]:
    """sCONV: inputs EU-aligned, filters compact with filler channels, a bias per channel.

    The bias is f32 for floats and i16 where the sum is requantised (functions 1 and 2).
    """
    _check_pads(command)
    n, oc, _, _ = result_shape(command)
    code = command["opd0_prec"]
    inputs = (n, command["opd0_c"], command["opd0_h"], command["opd0_w"])
    yield _laid_out(command, chip, tensor_or_int4(command, "opd0", inputs, code))
    if not command["opd1_const"]:
        channels = align(command["opd0_c"], chip.input_channels(code))
        taps = (1, oc, 1, channels * command["opd1_h"] * command["opd1_w"])
        yield tensor_or_int4(command, "opd1", taps, code).compact(chip)
    if not command["opd2_const"] and (code in _FLOATS or command.function):
        width = _HALF_WORD if command.function else _WORD
        yield Operand("opd2", command["opd2_addr"], (1, oc, 1, 1), width).compact(chip)
    yield from _accumulated(command, chip, result_shape(command))


def _check_pads(command: Command) -> None:
    pads = (command[f"opd0_{side}_pad"] for side in ("up", "dn", "lf", "rt"))
    if any(pads) and not command["opd3_const"]:
        raise TpuError("where a pad value (opd3) that is no constant lies is not known")


def _accumulated(command: Command, chip: Chip, shape: Shape4) -> Iterator[Access]:
    """The result, which `res_add` makes an operand too."""
    if command["res_add"]:
        yield tensor_of(command, "res0", shape, command["res0_prec"]).eu_aligned(chip)
    yield tensor_of(command, "res0", shape, command["res0_prec"], writes=True).eu_aligned(chip)


def matmul(command: Command, chip: Chip) -> Iterator[Access]:
    """sMM: matrices in column blocks; the last block of the left one may be narrower."""
    rows, blocks, width = command["opd0_n"], command["opd0_c"], command["opd0_w"]
    last = command["opd1_w"]
    code, depth = command["opd0_prec"], width * (blocks - 1) + last
    if command["left_tran"]:
        rows, depth = depth, rows
    if not command["opd0_const"]:
        left = (command["opd0_n"], blocks, 1, width)
        whole = tensor_or_int4(command, "opd0", left, code).eu_aligned(chip)
        yield from _column_blocks(whole, ceil_div(last, 2) if code == INT4 else last, chip)
    columns = (command["res0_c"], 1, command["res0_w"])
    yield tensor_or_int4(command, "opd1", (depth, *columns), code).eu_aligned(chip)
    requantised = command.function != 1
    if not command["opd2_const"] and (code in _FLOATS or requantised):
        width = _HALF_WORD if requantised else _WORD
        yield Operand("opd2", command["opd2_addr"], (1, *columns), width).eu_aligned(chip)
    yield from _accumulated(command, chip, (rows, *columns))


def _column_blocks(whole: Access, last: int, chip: Chip) -> Iterator[Access]:
    """All full column blocks (channels) of a matrix, then the `last` columns of the final one."""
    rows, blocks, _, width = whole.shape
    if last == width:
        yield whole
        return
    if blocks > 1:
        yield replace(whole, shape=(rows, blocks - 1, 1, width))
    group, lane = divmod((whole.address >> chip.lane_shift) + blocks - 1, chip.lanes)
    offset = whole.address & (chip.local_bytes - 1)
    address = (lane << chip.lane_shift) + offset + group * whole.strides[1] * whole.size
    yield replace(whole, address=address, shape=(rows, 1, 1, last))


def matmul2(command: Command, chip: Chip) -> Iterator[Access]:
    """sMM2: one row per lane; nn (M, K) x (K, N), nt (M, K) x (N, K), tt (K, N) and (M, K)."""
    m, n, code = command["res0_c"], command["res0_w"], command["opd0_prec"]
    if code not in _FLOATS and not command["opd2_const"]:
        raise TpuError("where a zero point (opd2) that is no constant lies is not known")
    by_rows = command.function == 4
    k = command["opd1_c"] if by_rows else command["opd1_w"]
    if not command["opd0_const"]:
        left = (1, k, 1, n) if command.function == 6 else (1, m, 1, k)
        yield tensor_or_int4(command, "opd0", left, code).eu_aligned(chip)
    if not command["opd1_const"]:
        rows = m if command.function == 6 else n
        shape = (1, k, 1, n) if by_rows else (1, rows, 1, k)
        yield tensor_or_int4(command, "opd1", shape, code).eu_aligned(chip)
    yield from _accumulated(command, chip, (1, m, 1, n))


def pool(command: Command, chip: Chip) -> Iterator[Access]:
    """sPorD: windows of an EU-aligned operand; depthwise has compact filters and biases."""
    _check_pads(command)
    n, c, _, _ = result_shape(command)
    code = command["opd0_prec"]
    inputs = (n, c, command["opd0_h"], command["opd0_w"])
    yield tensor_of(command, "opd0", inputs, code).eu_aligned(chip)
    if command.function in (0, 2):
        kernel = (1, c, command["opd1_h"], command["opd1_w"])
        if not command["opd1_const"]:
            yield tensor_of(command, "opd1", kernel, code).compact(chip)
        if not command["opd2_const"]:
            size = element_bytes(code) if code in _FLOATS else _WORD
            yield Operand("opd2", command["opd2_addr"], (1, c, 1, 1), size).compact(chip)
    yield from _result(command, chip)


def requant(command: Command, chip: Chip) -> Iterator[Access]:
    """sRQ_DQ: parameters are constants or two or three words per channel."""
    yield tensor_of(command, "opd0", result_shape(command), command["opd0_prec"]).eu_aligned(chip)
    if not command["opd1_const"]:
        table = (1, command["res0_c"], 1, 3 if command.function in (1, 4) else 2)
        yield Operand("opd1", command["opd1_addr"], table, _WORD).eu_aligned(chip)
    yield from _result(command, chip)


def transpose(command: Command, chip: Chip) -> Iterator[Access]:
    """sTRANS_BC 0 and 1: (n, w, h, c) to (n, c, h, w)."""
    n, c, h, w = result_shape(command)
    code = command["res0_prec"]
    yield tensor_of(command, "opd0", (n, w, h, c), code).eu_aligned(chip)
    result = tensor_of(command, "res0", (n, c, h, w), code, writes=True)
    yield result.line_aligned(chip) if command.function == 0 else result.eu_aligned(chip)


def lane_move(command: Command, chip: Chip) -> Iterator[Access]:
    """sTRANS_BC 2 and 3: between lanes, all channels or one to many."""
    n, c, h, w = result_shape(command)
    channels = c if command.function == 2 else 1
    yield tensor_of(command, "opd0", (n, channels, h, w), command["res0_prec"]).eu_aligned(chip)
    yield from _result(command, chip)


def from_static(command: Command, chip: Chip) -> Iterator[Access]:
    """sTRANS_BC 4 and 5: from static memory, whose addresses are absolute."""
    _, c, _, w = result_shape(command)
    size = element_bytes(command["res0_prec"])
    count, width = (w, w) if command.function == 4 else (c, 1)
    source, shape = command["opd0_addr"], (1, 1, 1, count)
    yield Access("opd0", False, source, shape, (0, 0, 0, 1), size, False, size)
    result = tensor_of(command, "res0", (1, c, 1, width), command["res0_prec"], writes=True)
    yield result.compact(chip)


def select_along_w(command: Command, chip: Chip) -> Iterator[Access]:
    """sSG gather and scatter: a table per channel or per lane, indices along w.

    Which elements a scatter writes depends on its indices; the others keep their values, so the
    result is an operand as well.
    """
    n, c, _, w = result_shape(command)
    scatters = command.function in (6, 14)
    width = command["opd1_w"] if scatters else w
    used = width if scatters else command["opd0_w"]
    table = tensor_of(command, "opd0", (1, c, 1, used), command["res0_prec"])
    row = align(command["opd0_w"], chip.eu(table.size))
    per_lane = command["opd0_str"] == _LANE_TABLE
    groups = ceil_div((table.address >> chip.lane_shift) + c, chip.lanes)
    yield table.strided((0, 0, row, 1) if per_lane else (groups * row, row, row, 1))
    index = element_bytes(command["opd1_prec"])
    yield Operand("opd1", command["opd1_addr"], (n, c, 1, width), index).eu_aligned(chip)
    if scatters:
        yield tensor_of(command, "res0", (n, c, 1, w), command["res0_prec"]).eu_aligned(chip)
    yield from _result(command, chip)


def linear(command: Command, chip: Chip) -> Iterator[Access]:
    """sLIN: one tensor, and one or two compact values per channel; all of the result's type."""
    shape, code = result_shape(command), command["res0_prec"]
    yield tensor_of(command, "opd0", shape, code).eu_aligned(chip)
    for name in ("opd1", "opd2") if command.function == 1 else ("opd1",):
        if not command[f"{name}_const"]:
            yield tensor_of(command, name, (1, shape[1], 1, 1), code).compact(chip)
    yield from _result(command, chip)


def vector(command: Command, chip: Chip) -> Iterator[Access]:
    """sVC: two vectors in blocks over the lanes, and all pairs of their elements."""
    blocks, width, last = command["opd0_c"], command["opd0_w"], command["opd1_w"]
    columns = (command["res0_c"], 1, command["res0_w"])
    whole = tensor_of(command, "opd0", (1, blocks, 1, width), command["opd0_prec"])
    yield from _column_blocks(whole.eu_aligned(chip), last, chip)
    yield tensor_of(command, "opd1", (1, *columns), command["opd1_prec"]).eu_aligned(chip)
    shape = ((blocks - 1) * width + last, *columns)
    yield tensor_of(command, "res0", shape, command["res0_prec"], writes=True).eu_aligned(chip)


def nothing(command: Command, chip: Chip) -> Iterator[Access]:
    """Markers touch no memory."""
    yield from ()


RULES: dict[tuple[str, int], AccessRule] = {
    **{("sAR", function): arith for function in (*range(17), *range(19, 24), 26, 27)},
    **{("sCMP", function): compare for function in range(22, 27)},
    **{("sCONV", function): conv for function in range(3)},
    **{("sLIN", function): linear for function in (1, 20, 21)},
    **{("sMM", function): matmul for function in (1, 2, 3)},
    **{("sMM2", function): matmul2 for function in (4, 5, 6)},
    **{("sPorD", function): pool for function in (0, 1, 2, 4)},
    **{("sRQ_DQ", function): requant for function in (0, 1, 3, 4)},
    **{("sSFU", function): taylor for function in (12, 13)},
    ("sSFU", 15): unary,
    ("sSFU", 17): unary,
    **{("sSG", function): select_along_w for function in (5, 6, 13, 14)},
    ("sTRANS_BC", 0): transpose,
    ("sTRANS_BC", 1): transpose,
    ("sTRANS_BC", 2): lane_move,
    ("sTRANS_BC", 3): lane_move,
    ("sTRANS_BC", 4): from_static,
    ("sTRANS_BC", 5): from_static,
    **{("sVC", function): vector for function in (0, *range(2, 6), *range(7, 14), 15, 16, 20, 23)},
    ("SYSID", 30): nothing,
    ("SYSID", 31): nothing,
}
"""Operands by (form, function)."""
