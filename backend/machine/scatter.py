"""sSG: gather and scatter along w with 8-bit or 16-bit indices.

docs/hardware/instructions.md#ssg. Data moves as bits.
"""

import numpy as np

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import SG, LayoutCode, Precision
from xdsl_tpu.backend.machine.elements import U8, U16, Element, raw_element
from xdsl_tpu.backend.machine.memory import Placed
from xdsl_tpu.backend.machine.state import Executors, State, require, result_shape

_INDICES: dict[int, Element] = {Precision.I8: U8, Precision.I16: U16}


def _table(state: State, command: Command, kind: Element) -> Placed:
    """opd0 as (1, c, 1, opd0_w): one per channel, or one per lane shared by its groups."""
    _, c, _, _ = result_shape(command)
    shape, layout = (1, c, 1, command["opd0_w"]), command["opd0_str"]
    if layout == LayoutCode.LANES:
        return state.local(command["opd0_addr"], shape, (0, 0, shape[3], 1), kind)
    require(layout == LayoutCode.ALIGNED, f"opd0_str {layout}: only 0 and 4 are simulated")
    return state.eu_aligned(command["opd0_addr"], shape, kind)


def _index(state: State, command: Command, width: int) -> np.ndarray:
    n, c, h, _ = result_shape(command)
    require(command["opd0_prec"] == command["res0_prec"], "table and result need one element type")
    require(command["opd1_c"] == c, f"opd1_c = {command['opd1_c']}: indices of {c} channels needed")
    require(command["opd0_h"] == 1, f"opd0_h = {command['opd0_h']}: the table is one row")
    require(command["opd1_prec"] in _INDICES, "only 8-bit and 16-bit indices are simulated")
    require(h == 1, f"gather and scatter work on rows: h is {h}, not 1")
    index = state.eu_aligned(command["opd1_addr"], (n, c, 1, width), _INDICES[command["opd1_prec"]])
    return index.read().astype(np.intp)


def gather(state: State, command: Command) -> None:
    """result(n, c, 0, j) = opd0(0, c, 0, opd1(n, c, 0, j))."""
    kind, shape = raw_element(command["res0_prec"]), result_shape(command)
    index = _index(state, command, shape[3])
    table = _table(state, command, kind).read()
    _check_range(index, table.shape[3])
    values = np.take_along_axis(np.broadcast_to(table, (shape[0], *table.shape[1:])), index, 3)
    state.eu_aligned(command["res0_addr"], shape, kind).write(values)


def scatter(state: State, command: Command) -> None:
    """result(n, c, 0, opd1(n, c, 0, i)) = opd0(0, c, 0, i); other elements stay."""
    kind, shape = raw_element(command["res0_prec"]), result_shape(command)
    index = _index(state, command, command["opd1_w"])
    _check_range(index, shape[3])
    source = _table(state, command, kind).read()[..., : index.shape[3]]
    result = state.eu_aligned(command["res0_addr"], shape, kind)
    values = result.read().copy()
    np.put_along_axis(values, index, np.broadcast_to(source, index.shape), 3)
    result.write(values)


def _check_range(index: np.ndarray, size: int) -> None:
    require(int(index.max()) < size, f"index {index.max()} is out of range: {size} elements")


EXECUTORS: Executors = {
    ("sSG", SG.PE_S_GATHER_D1COOR): gather,
    ("sSG", SG.PE_S_SCATTER_D1COOR): scatter,
    ("sSG", SG.PE_S_GATHER_HZD): gather,
    ("sSG", SG.PE_S_SCATTER_HZD): scatter,
}
