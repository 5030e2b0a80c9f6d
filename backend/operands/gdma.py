"""Operands of the GDMA commands (docs/hardware/instructions.md#gdma-tensor)."""

from collections.abc import Iterator
from dataclasses import replace

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.operands.access import Access, AccessRule, element_bytes
from xdsl_tpu.backend.tensor import Shape4, align, ceil_div
from xdsl_tpu.dialects.errors import TpuError

_NO_STEPS: Shape4 = (0, 0, 0, 1)
_WORD_CODE = 4  # i32


def _address(command: Command, side: str) -> int:
    return command[f"{side}_start_addr_h8"] << 32 | command[f"{side}_start_addr_l32"]


def _is_local(address: int, chip: Chip) -> bool:
    return 0 <= address - chip.local_base < chip.lanes * chip.local_bytes


def local_sides(command: Command, chip: Chip) -> list[str]:
    """Which of `src` and `dst` have their address in local memory."""
    return [side for side in ("src", "dst") if _is_local(_address(command, side), chip)]


def _access(command: Command, chip: Chip, side: str, place: tuple[int, Shape4, Shape4]) -> Access:
    """A region of either memory; `place` is the absolute address, the shape, the strides."""
    address, shape, strides = place
    local = _is_local(address, chip)
    size = element_bytes(command["src_data_format"])
    offset = address - chip.local_base if local else address
    return Access(side, local, offset, shape, strides, size, side == "dst", size)


def _sizes(command: Command, side: str) -> Shape4:
    n, c, h, w = (command[f"{side}_{axis}size"] for axis in "nchw")
    return n, c, h, w


def _tensor(command: Command, chip: Chip, side: str, shape: Shape4) -> Access:
    """A side of a tensor transfer, with its own strides or the default ones."""
    address = _address(command, side)
    if command["stride_enable"]:
        n, c, h = (command[f"{side}_{axis}stride"] for axis in "nch")
        plain = command.form.family == "DMA_tensor" and command.function == 0
        w = command[f"{side}_wstride"] if plain else 1
        return _access(command, chip, side, (address, shape, (n, c, h, w)))
    _, c, h, w = shape
    if not _is_local(address, chip):
        return _access(command, chip, side, (address, shape, (c * h * w, h * w, w, 1)))
    channel = align(h * w, chip.eu(element_bytes(command["src_data_format"])))
    lane = (address - chip.local_base) >> chip.lane_shift
    strides = (ceil_div(lane + c, chip.lanes) * channel, channel, w, 1)
    return _access(command, chip, side, (address, shape, strides))


def _source(command: Command, chip: Chip, shape: Shape4) -> Iterator[Access]:
    if not command["fill_constant_en"]:
        yield _tensor(command, chip, "src", shape)


def tensor(command: Command, chip: Chip) -> Iterator[Access]:
    """DMA_tensor: copy or reshape (0), exchange n and c (1) or c and w (2, 4), broadcast (3)."""
    n, c, h, w = _sizes(command, "src")
    if command.function == 0:
        target = (n, c, h, w) if command["nchw_copy"] else _sizes(command, "dst")
    elif command.function == 1:
        target = (c, n, h, w)
    elif command.function in (2, 4):
        target = (n, w, h, c)
    else:
        c, target = 1, (n, command["dst_csize"], h, w)
    yield from _source(command, chip, (n, c, h, w))
    yield _tensor(command, chip, "dst", target)


def matrix(command: Command, chip: Chip) -> Iterator[Access]:
    """DMA_matrix: rows in DDR, column blocks spread over the lanes in local memory."""
    to_local = _is_local(_address(command, "dst"), chip)
    local, other = ("dst", "src") if to_local else ("src", "dst")
    rows, columns = command[f"{other}_hsize"], command[f"{other}_wsize"]
    strides = (0, 0, command[f"{other}_hstride"], 1)
    linear = (_address(command, other), (1, 1, rows, columns), strides)
    if to_local:
        yield _access(command, chip, other, linear)
    if command.function == 1:
        rows, columns = columns, rows
    yield from _blocks(command, chip, local, (rows, columns))
    if not to_local:
        yield _access(command, chip, other, linear)


def _blocks(
    command: Command, chip: Chip, side: str, matrix_shape: tuple[int, int]
) -> Iterator[Access]:
    """All full column blocks, then the columns that are left."""
    rows, columns = matrix_shape
    width = command[f"{side}_wsize"]
    if not width:
        raise TpuError(f"{side}_wsize is 0: a matrix needs a block width")
    n_stride, c_stride = command[f"{side}_nstride"], command[f"{side}_cstride"]
    strides = (n_stride, c_stride, 0, 1)
    full, tail = divmod(columns, width)
    address = _address(command, side)
    if full:
        yield _access(command, chip, side, (address, (rows, full, 1, width), strides))
    if tail:
        start = address - chip.local_base
        group, lane = divmod((start >> chip.lane_shift) + full, chip.lanes)
        offset = start & (chip.local_bytes - 1)
        offset += group * c_stride * element_bytes(command["src_data_format"])
        place = chip.local_base + (lane << chip.lane_shift) + offset
        yield _access(command, chip, side, (place, (rows, 1, 1, tail), strides))


def general(command: Command, chip: Chip) -> Iterator[Access]:
    """DMA_general: `src_cstride` elements in a row, to one place or to many lanes."""
    count = command["src_cstride"]
    if not command["fill_constant_en"]:
        source = (_address(command, "src"), (1, 1, 1, count), _NO_STEPS)
        yield _access(command, chip, "src", source)
    lanes = command["dst_csize"] if command.function == 1 else 1
    yield _access(command, chip, "dst", (_address(command, "dst"), (1, lanes, 1, count), _NO_STEPS))


def cw_transpose(command: Command, chip: Chip) -> Iterator[Access]:
    """DMA_cw_transpose: (n, c, h, w) to (n, w, h, c)."""
    n, c, h, w = _sizes(command, "src")
    yield from _source(command, chip, (n, c, h, w))
    yield _tensor(command, chip, "dst", (n, w, h, c))


def _rows(command: Command, chip: Chip, side: str, sizes: tuple[int, int, int]) -> Access:
    """An operand (1, c, h, w) of a gather or scatter; indices are words."""
    if side == "index":
        command = Command(command.form, {**command.fields, "src_data_format": _WORD_CODE})
    shape = (1, *sizes)
    if not command["stride_enable"]:
        return _tensor(command, chip, side, shape)
    steps = (0, command[f"{side}_cstride"], command[f"{side}_hstride"], 1)
    return _access(command, chip, side, (_address(command, side), shape, steps))


def gather(command: Command, chip: Chip) -> Iterator[Access]:
    """DMA_gather: which source rows are read depends on the indices, so all of them count."""
    channels = max(command["src_csize"], command["index_csize"])
    rows = command["src_hsize"] if command["nchw_copy"] else command["dst_hsize"]
    width = command["src_wsize"]
    yield _rows(command, chip, "src", (command["src_csize"], command["src_hsize"], width))
    yield _rows(command, chip, "index", (command["index_csize"], rows, 1))
    yield _rows(command, chip, "dst", (channels, rows, width))


def scatter(command: Command, chip: Chip) -> Iterator[Access]:
    """DMA_scatter: rows that no index names keep their values, so the result is read as well."""
    channels = max(command["src_csize"], command["index_csize"])
    width = command["src_wsize"]
    yield _rows(command, chip, "src", (command["src_csize"], command["src_hsize"], width))
    yield _rows(command, chip, "index", (command["index_csize"], command["index_hsize"], 1))
    target = _rows(command, chip, "dst", (channels, command["dst_hsize"], width))
    yield replace(target, writes=False)
    yield target


def nothing(command: Command, chip: Chip) -> Iterator[Access]:
    """Markers touch no memory."""
    yield from ()


_MASK_BITS = 64


def _whole(rule: AccessRule) -> AccessRule:
    """The rule of a transfer of plain elements from or to all lanes; TpuError for any other."""

    def operands(command: Command, chip: Chip) -> Iterator[Access]:
        mask = command["localmem_mask_h32"] << 32 | command["localmem_mask_l32"]
        lanes = (1 << min(chip.lanes, _MASK_BITS)) - 1
        if mask & lanes != lanes:
            raise TpuError(f"lane mask {mask:#x}: only transfers of all lanes have known operands")
        if command["decompress_enable"]:
            raise TpuError("how many bytes a compressed source has is not known")
        yield from rule(command, chip)

    return operands


_TRANSFERS: dict[tuple[str, int], AccessRule] = {
    **{("DMA_tensor", function): tensor for function in range(5)},
    **{("DMA_matrix", function): matrix for function in (0, 1)},
    **{("DMA_general", function): general for function in (0, 1)},
    ("DMA_cw_transpose", 0): cw_transpose,
    ("DMA_gather", 0): gather,
    ("DMA_scatter", 0): scatter,
}

RULES: dict[tuple[str, int], AccessRule] = {
    **{key: _whole(rule) for key, rule in _TRANSFERS.items()},
    ("sDMA_sys", 0): nothing,
    ("sDMA_sys", 1): nothing,
}
"""Operands by (form, function)."""
