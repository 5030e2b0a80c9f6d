"""GDMA commands: copies, broadcasts, transposes and fills between the memories.

docs/hardware/instructions.md#gdma-tensor and
docs/hardware/instructions.md#other-gdma-forms. Data is moved as unsigned integers of
the element's size, so no bit pattern changes.
"""

import numpy as np

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import DmaGeneral, DmaMatrix, DmaTensor, Only
from xdsl_tpu.backend.machine.elements import Array, Element, raw_element
from xdsl_tpu.backend.machine.memory import Placed, Quad
from xdsl_tpu.backend.machine.state import Executors, State, require


def address_of(command: Command, side: str) -> int:
    """The 40-bit address of the `src` or `dst` side."""
    return command[f"{side}_start_addr_h8"] << 32 | command[f"{side}_start_addr_l32"]


def _sizes(command: Command, side: str) -> Quad:
    n, c, h, w = (command[f"{side}_{axis}size"] for axis in "nchw")
    return n, c, h, w


def _strides(command: Command, side: str) -> Quad:
    n, c, h, w = (command[f"{side}_{axis}stride"] for axis in "nchw")
    return n, c, h, w


def default_strides(state: State, address: int, shape: Quad, kind: Element) -> Quad:
    """EU-aligned in local memory, dense elsewhere."""
    _, c, h, w = shape
    if not state.memory.is_local(address):
        return c * h * w, h * w, w, 1
    eu = state.chip.eu(kind.size)
    channel = -(-h * w // eu) * eu
    lane = (address - state.chip.local_base) // state.chip.local_bytes
    groups = -(-(lane + c) // state.chip.lanes)
    return groups * channel, channel, w, 1


def _place(state: State, command: Command, side: str, shape: Quad, kind: Element) -> Placed:
    address = address_of(command, side)
    if command["stride_enable"]:
        strides = _strides(command, side)
        if command.form.name != "DMA_tensor" or command.function != DmaTensor.COPY:
            strides = (*strides[:3], 1)  # only the plain tensor copy has a stride along w
    else:
        strides = default_strides(state, address, shape, kind)
    return state.memory.place(address, shape, strides, kind.storage)


_MASK_BITS = 64
"""Lanes that the mask of a command can name; all ones mean every lane of a larger chip, too."""


def check_plain(state: State, command: Command) -> None:
    """Refuse what no form supports."""
    require(not command["decompress_enable"], "decompression is not simulated")
    mask = command["localmem_mask_h32"] << 32 | command["localmem_mask_l32"]
    everything = (1 << min(state.chip.lanes, _MASK_BITS)) - 1
    require(
        mask & everything == everything, f"lane mask {mask:#x} is not simulated: all lanes only"
    )


def _source(state: State, command: Command, shape: Quad, kind: Element) -> Array:
    """The elements to move as (n, c, h, w), or the constant of a fill, shape ()."""
    if command["fill_constant_en"]:
        return kind.immediate(command["constant_value"])
    return _place(state, command, "src", shape, kind).read()


def tensor_copy(state: State, command: Command) -> None:
    """Strided copy; with `nchw_copy` 0 the elements are reshaped in n, c, h, w order."""
    check_plain(state, command)
    kind = raw_element(command["src_data_format"])
    source_shape = _sizes(command, "src")
    same = bool(command["nchw_copy"])
    shape = source_shape if same else _sizes(command, "dst")
    require(
        np.prod(shape) == np.prod(source_shape),
        f"the source {source_shape} and the destination {shape} differ in size",
    )
    values = _source(state, command, source_shape, kind)
    target = _place(state, command, "dst", shape, kind)
    target.write(np.broadcast_to(values, shape) if values.ndim == 0 else values.reshape(shape))


def tensor_swap_nc(state: State, command: Command) -> None:
    """Copy with the n and c axes exchanged."""
    check_plain(state, command)
    kind = raw_element(command["src_data_format"])
    n, c, h, w = _sizes(command, "src")
    values = _source(state, command, (n, c, h, w), kind)
    require(values.ndim == 4, "filling with a constant is simulated for plain copies only")
    _place(state, command, "dst", (c, n, h, w), kind).write(values.transpose(1, 0, 2, 3))


def tensor_broadcast(state: State, command: Command) -> None:
    """(n, 1, h, w) to (n, dst_csize, h, w)."""
    check_plain(state, command)
    kind = raw_element(command["src_data_format"])
    n, _, h, w = _sizes(command, "src")
    shape = (n, command["dst_csize"], h, w)
    values = _source(state, command, (n, 1, h, w), kind)
    _place(state, command, "dst", shape, kind).write(np.broadcast_to(values, shape))


def _matrix_blocks(columns: int, width: int) -> list[tuple[int, int, int]]:
    """Full column blocks and the tail: (first block, blocks, columns of each)."""
    full, tail = divmod(columns, width)
    blocks = [(0, full, width)] if full else []
    return [*blocks, (full, 1, tail)] if tail else blocks


def matrix_copy(state: State, command: Command) -> None:
    """Between a row-major matrix in DDR and column blocks spread over the lanes.

    Local memory holds (rows, blocks, 1, width); function 1 transposes the DDR side.
    """
    check_plain(state, command)
    require(not command["fill_constant_en"], "filling with a constant is not simulated here")
    kind = raw_element(command["src_data_format"])
    to_local = state.memory.is_local(address_of(command, "dst"))
    local, other = ("dst", "src") if to_local else ("src", "dst")
    transposed = command.function == DmaMatrix.MATRIX_TRANSPOSE
    require(to_local or not transposed, "transposing from local memory to DDR does not exist")
    rows, columns = command[f"{other}_hsize"], command[f"{other}_wsize"]
    matrix = state.memory.place(
        address_of(command, other),
        (1, 1, rows, columns),
        (0, 0, command[f"{other}_hstride"], 1),
        kind.storage,
    ).views[0][0, 0, 0]
    if transposed:
        matrix, columns = matrix.T, rows
    width = command[f"{local}_wsize"]
    require(width > 0, "the block width is zero")
    for first, count, part in _matrix_blocks(columns, width):
        placed = _blocks(state, command, local, (len(matrix), first, count, part), kind)
        start = first * width
        cut = matrix[:, start : start + count * part]
        if to_local:
            placed.write(cut.reshape(len(matrix), count, 1, part))
        else:
            cut.reshape(len(matrix), count, 1, part, copy=False)[...] = placed.read()


def _blocks(
    state: State, command: Command, side: str, cut: tuple[int, int, int, int], kind: Element
) -> Placed:
    """`count` blocks of a local matrix from block `first` on, as (rows, count, 1, width)."""
    rows, first, count, width = cut
    chip = state.chip
    lane, offset = divmod(address_of(command, side) - chip.local_base, chip.local_bytes)
    group, lane = divmod(lane + first, chip.lanes)
    n_stride, c_stride = command[f"{side}_nstride"], command[f"{side}_cstride"]
    address = lane * chip.local_bytes + offset + group * c_stride * kind.size
    shape = (rows, count, 1, width)
    return state.memory.local.place(address, shape, (n_stride, c_stride, 0, 1), kind.storage)


def general_copy(state: State, command: Command) -> None:
    """`src_cstride` elements in a row, to one place or to every lane of `dst_csize`."""
    check_plain(state, command)
    kind = raw_element(command["src_data_format"])
    count = command["src_cstride"]
    values = _source(state, command, (1, 1, 1, count), kind)
    broadcasts = command.function == DmaGeneral.BROADCAST_TO_LANES
    lanes = command["dst_csize"] if broadcasts else 1
    shape = (1, lanes, 1, count)
    target = state.memory.place(address_of(command, "dst"), shape, (0, 0, 0, 1), kind.storage)
    target.write(np.broadcast_to(values, shape))


def cw_transpose(state: State, command: Command) -> None:
    """(n, c, h, w) to (n, w, h, c).

    Also DMA_tensor distribute (to local memory) and collect (from it), which is unverified.
    """
    check_plain(state, command)
    kind = raw_element(command["src_data_format"])
    values = _source(state, command, _sizes(command, "src"), kind)
    require(values.ndim == 4, "filling with a constant is simulated for plain copies only")
    n, c, h, w = _sizes(command, "src")
    _place(state, command, "dst", (n, w, h, c), kind).write(values.transpose(0, 3, 2, 1))


EXECUTORS: Executors = {
    ("DMA_tensor", DmaTensor.COPY): tensor_copy,
    ("DMA_tensor", DmaTensor.TRANSPOSE_N_C): tensor_swap_nc,
    ("DMA_tensor", DmaTensor.COLLECT): cw_transpose,
    ("DMA_tensor", DmaTensor.BROADCAST): tensor_broadcast,
    ("DMA_tensor", DmaTensor.DISTRIBUTE): cw_transpose,
    ("DMA_matrix", DmaMatrix.MATRIX_COPY): matrix_copy,
    ("DMA_matrix", DmaMatrix.MATRIX_TRANSPOSE): matrix_copy,
    ("DMA_general", DmaGeneral.LINEAR_COPY): general_copy,
    ("DMA_general", DmaGeneral.BROADCAST_TO_LANES): general_copy,
    ("DMA_cw_transpose", Only.ONLY): cw_transpose,
}
