"""GDMA gather and scatter: rows selected by a list of indices.

docs/hardware/instructions.md#other-gdma-forms, and the forms' operand tables.
"""

import numpy as np

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import Only
from xdsl_tpu.backend.machine.dma import address_of, check_plain, default_strides
from xdsl_tpu.backend.machine.elements import U32, Array, Element, raw_element
from xdsl_tpu.backend.machine.memory import Placed, Quad
from xdsl_tpu.backend.machine.state import Executors, Outside, State, require


def _place(state: State, command: Command, side: str, shape: Quad, kind: Element) -> Placed:
    """The operand (1, c, h, w) of the `src`, `dst` or `index` side."""
    address = address_of(command, side)
    if command["stride_enable"]:
        strides = (0, command[f"{side}_cstride"], command[f"{side}_hstride"], 1)
    else:
        strides = default_strides(state, address, shape, kind)
    return state.memory.place(address, shape, strides, kind.storage)


def _index(state: State, command: Command, channels: int, rows: int) -> Array:
    """Row numbers (channels, rows); one list may serve all channels."""
    own = command["index_csize"]
    require(own in (1, channels), f"{own} index lists for {channels} channels")
    index = _place(state, command, "index", (1, own, rows, 1), U32).read()
    return np.broadcast_to(index[0, :, :, 0], (channels, rows)).astype(np.int64)


def _note_outside(state: State, command: Command, index: Array, inside: Array, rows: int) -> None:
    if not inside.all():
        first = np.array(index[~inside][0], np.uint32).view(np.int32)
        state.outside.append(Outside(command, int(first), rows, int(np.count_nonzero(~inside))))


def _channels(command: Command) -> int:
    return max(command["src_csize"], command["index_csize"])


def gather(state: State, command: Command) -> None:
    """result(0, c, i, w) = source(0, c, index(c, i), w); rows out of range get the constant."""
    check_plain(state, command)
    kind = raw_element(command["src_data_format"])
    channels, width = _channels(command), command["src_wsize"]
    rows = command["src_hsize"] if command["nchw_copy"] else command["dst_hsize"]
    shape: Quad = (1, command["src_csize"], command["src_hsize"], width)
    require(shape[1] in (1, channels), f"{shape[1]} source channels for {channels} index lists")
    source = np.broadcast_to(
        _place(state, command, "src", shape, kind).read(), (1, channels, *shape[2:])
    )
    index = _index(state, command, channels, rows)
    inside = index < shape[2]
    _note_outside(state, command, index, inside, shape[2])
    picked = np.take_along_axis(source[0], np.where(inside, index, 0)[..., None], 1)
    fill = kind.immediate(command["constant_value"])
    values = np.where(inside[..., None], picked, fill)
    _place(state, command, "dst", (1, channels, rows, width), kind).write(values[None])


def scatter(state: State, command: Command) -> None:
    """result(0, c, index(c, i), w) = source(0, c, i, w); rows out of range are skipped.

    One source row may serve all indices; of equal indices the last one wins.
    """
    check_plain(state, command)
    kind = raw_element(command["src_data_format"])
    channels, width = _channels(command), command["src_wsize"]
    rows, target_rows = command["index_hsize"], command["dst_hsize"]
    shape: Quad = (1, command["src_csize"], command["src_hsize"], width)
    require(shape[1] in (1, channels), f"{shape[1]} source channels for {channels} index lists")
    require(shape[2] in (1, rows), f"{shape[2]} source rows for {rows} indices")
    source = _place(state, command, "src", shape, kind).read()[0]
    values = np.broadcast_to(source, (channels, rows, width)).copy()
    index = _index(state, command, channels, rows)
    target = _place(state, command, "dst", (1, channels, target_rows, width), kind)
    result = target.read().copy()
    inside = index < target_rows
    _note_outside(state, command, index, inside, target_rows)
    for channel, row in zip(*np.nonzero(inside), strict=True):
        result[0, channel, index[channel, row]] = values[channel, row]
    target.write(result)


EXECUTORS: Executors = {("DMA_gather", Only.ONLY): gather, ("DMA_scatter", Only.ONLY): scatter}
