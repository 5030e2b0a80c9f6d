"""Fields of a command that cannot all be meant: sizes that do not match, windows that do not fit.

The bytes that such a command touches are in their places, so nothing else is wrong with it.
"""

import math
from collections.abc import Callable, Iterator

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import SG, DmaMatrix, DmaTensor, TransBc
from xdsl_tpu.backend.operands import Access
from xdsl_tpu.backend.operands.access import element_bytes
from xdsl_tpu.backend.operands.placed import local_sides

Rule = Callable[[Command, list[Access], Chip], Iterator[str]]


def contradictions(command: Command, found: list[Access], chip: Chip) -> Iterator[str]:
    """What contradicts itself in a command, in words; `found` are its operands."""
    rule = _RULES.get(command.form.family)
    if rule is not None:
        yield from rule(command, found, chip)


def _window(command: Command, found: list[Access], chip: Chip) -> Iterator[str]:
    """The result has as many rows and columns as windows fit in opd0 with the pads.

    The C model takes them to be so many: with more windows it writes beyond its buffers.
    """
    if command["pad_mode"]:
        yield f"pad_mode is {command['pad_mode']}; what it pads with is not known"
    for axis, step, before, after in (("h", "y", "up", "dn"), ("w", "x", "lf", "rt")):
        stride, kernel = command[f"res_op_{step}_str"], command[f"opd1_{axis}"]
        if not stride or not kernel:
            yield f"the window has kernel {kernel} and stride {stride} along {axis}"
            continue
        spread = (command[f"opd0_{axis}"] - 1) * (command[f"opd0_{step}_ins0"] + 1) + 1
        given = spread + command[f"opd0_{before}_pad"] + command[f"opd0_{after}_pad"]
        reach = (kernel - 1) * (command[f"opd1_{step}_ins0"] + 1) + 1
        needed = (command[f"res0_{axis}"] - 1) * stride + reach
        if needed > given:
            yield (
                f"res0_{axis} = {command[f'res0_{axis}']} needs {needed} elements of opd0 along "
                f"{axis}, there are {given} with the pads"
            )
        elif given - needed >= stride:
            yield (
                f"res0_{axis} = {command[f'res0_{axis}']} uses {needed} elements of opd0 along "
                f"{axis}, but {(given - reach) // stride + 1} windows fit in the {given} with the "
                f"pads: opd0_{axis} must end with the last window"
            )


def _lanes(command: Command, found: list[Access], chip: Chip) -> Iterator[str]:
    """A broadcast between lanes must end on the last lane."""
    lane, channels = command["res0_addr"] >> chip.lane_shift, command["res0_c"]
    if command.function == TransBc.LANE_BROADCAST and lane + channels > chip.lanes:
        yield f"a broadcast to {channels} lanes from lane {lane} on; there are {chip.lanes}"


def _gather(command: Command, found: list[Access], chip: Chip) -> Iterator[str]:
    """Rows of height 1; without hazard detection, operands and result in banks of their own."""
    if command["res0_h"] != 1:
        yield f"gather and scatter work on rows, res0_h is {command['res0_h']}"
    if command["opd1_c"] != command["res0_c"]:
        yield f"opd1_c is {command['opd1_c']}, it must be res0_c, {command['res0_c']}"
    if command.function not in (SG.PE_S_GATHER_D1COOR, SG.PE_S_SCATTER_D1COOR):
        return
    banks: dict[str, set[int]] = {}
    for access in found:
        first = access.address % chip.local_bytes
        last = first + sum((n - 1) * s for n, s in _in_lane(access, chip)) * access.size
        used = range(first // chip.bank_bytes, last // chip.bank_bytes + 1)
        banks.setdefault(access.operand, set()).update(used)
    names = sorted(banks)
    for index, name in enumerate(names):
        for other in names[index + 1 :]:
            if shared := banks[name] & banks[other]:
                yield (
                    f"{name} and {other} are both in bank {min(shared)} of local memory, which "
                    "only the variant of the command with hazard detection (_hzd) allows"
                )


def _in_lane(access: Access, chip: Chip) -> list[tuple[int, int]]:
    n, c, h, w = access.shape
    groups = ((access.address // chip.local_bytes) + c - 1) // chip.lanes + 1
    return list(zip((n, groups, h, w), access.strides, strict=True))


def _dma(command: Command, found: list[Access], chip: Chip) -> Iterator[str]:
    """A copy steps along w where it is in DDR, as the C model divides by the stride, also of one
    element; without `nchw_copy` it reshapes: as many elements on both sides."""
    sides = {a.operand: a.shape for a in found}
    if command.function == DmaTensor.COPY and command["stride_enable"]:
        for access in found:
            filled = access.operand == "src" and command["fill_constant_en"]
            if not access.local and not access.strides[3] and not filled:
                yield f"{access.operand}_wstride is 0 (of a single element it must be 1)"
    if command.function == DmaTensor.COPY and {"src", "dst"} <= sides.keys():
        here, there = (math.prod(sides[side]) for side in ("src", "dst"))
        if here != there:
            yield f"src has {here} elements, dst has {there}"


def _matrix(command: Command, found: list[Access], chip: Chip) -> Iterator[str]:
    """One side is local; its rows, at their distance, end within a lane (the C model asserts it,
    of a single row, too)."""
    local = local_sides(command, chip)
    if len(local) != 1:
        where = "both sides" if local else "neither side"
        yield f"a matrix moves between local memory and another one, {where} of it is local"
        return
    (side,) = local
    if side == "src" and command.function == DmaMatrix.MATRIX_TRANSPOSE:
        yield "a matrix can be transposed on its way to local memory only"
    rows = max((access.shape[0] for access in found if access.operand == side), default=0)
    step = command[f"{side}_nstride"] * element_bytes(command["src_data_format"])
    start = command[f"{side}_start_addr_l32"] % chip.local_bytes
    if start + rows * step > chip.local_bytes:
        yield (
            f"{rows} rows that are {step} bytes ({side}_nstride) apart from byte {start:#x} on end "
            f"at byte {start + rows * step:#x} of a lane of {chip.local_bytes:#x}"
        )


_RULES: dict[str, Rule] = {
    "CONV": _window,
    "PorD": _window,
    "TRANS_BC": _lanes,
    "SG": _gather,
    "DMA_tensor": _dma,
    "DMA_matrix": _matrix,
}
