"""What LSTM and GRU do at a step once all products are there, in f32.

Values are dense, (1, lanes, 1, slots * batch): all gates behind each other, so that a command works
on all of them and the divisions of a step are few.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.activation import RECIPES
from xdsl_tpu.backend.kernels.mapping import TABLE_BYTES, write_table
from xdsl_tpu.backend.kernels.sequences.logistic import SIGMOID_F32_SHORT
from xdsl_tpu.backend.kernels.sequences.unary import Unary
from xdsl_tpu.backend.kernels.support import LocalMemory
from xdsl_tpu.backend.tensor import DType, LocalTensor, aligned, compact, strided

F32 = DType.F32

EXACT, SHORT = RECIPES["SIGMOID"], SIGMOID_F32_SHORT
"""The sigmoid of layers in f32, and of 16-bit ones, whose numbers are rounded at every step."""

SCRATCH = max(len(one.scratch) for one in (EXACT, SHORT))
"""Tensors of the size of all gates that a sigmoid works in."""

STATES = 7
"""Tensors of the size of one gate: states, what is between, and scratch of a tanh besides."""


@dataclass(frozen=True, slots=True)
class Room:
    """Dense tensors that the cells work in."""

    gates: LocalTensor
    activated: LocalTensor
    wide: Sequence[LocalTensor]
    narrow: Sequence[LocalTensor]
    """Of one gate; the first two are the states h and c."""
    sigmoid: Unary
    table: LocalTensor
    chip: Chip

    @classmethod
    def take(cls, memory: LocalMemory, slots: int, units: int, sigmoid: Unary) -> "Room":
        """`slots` of all gates, `units` of one, each times the batch."""
        lanes = memory.chip.lanes
        wide = [memory.aligned((1, lanes, 1, slots), F32) for _ in range(SCRATCH + 2)]
        narrow = [memory.aligned((1, lanes, 1, units), F32) for _ in range(STATES)]
        place = memory.take(TABLE_BYTES)
        (terms,) = sigmoid.tables
        table = compact(memory.chip, place, (1, lanes, 1, len(terms)), F32)
        return cls(wide[0], wide[1], wide[2:], narrow, sigmoid, table, memory.chip)

    def of(self, slots: int, units: int) -> "Room":
        """The same memory for fewer sequences."""

        def shorter(tensor: LocalTensor, width: int) -> LocalTensor:
            return aligned(self.chip, tensor.address, (1, self.lanes, 1, width), F32)

        return replace(
            self,
            gates=shorter(self.gates, slots),
            activated=shorter(self.activated, slots),
            narrow=[shorter(one, units) for one in self.narrow],
        )

    @property
    def lanes(self) -> int:
        """Lanes of the chip."""
        return self.chip.lanes

    @property
    def h(self) -> LocalTensor:
        """The hidden state."""
        return self.narrow[0]

    @property
    def c(self) -> LocalTensor:
        """The cell state of an LSTM."""
        return self.narrow[1]

    def gate(self, of: LocalTensor, index: int, count: int = 1) -> LocalTensor:
        """Gates `index` and following of a tensor of all of them."""
        width = self.h.shape[3]
        shape = (1, self.lanes, 1, count * width)
        return strided(of.at(w=index * width), shape, of.strides, F32)

    def write_tables(self, e: Emitter) -> None:
        """The coefficients of the sigmoid."""
        write_table(e, self.table, *self.sigmoid.tables)


def sigmoid(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Sequence[LocalTensor], room: Room
) -> None:
    """out = 1 / (1 + exp(-x)); scratch are aligned tensors at least as long as x."""
    kinds = zip(scratch, room.sigmoid.scratch, strict=False)
    shorter = [aligned(e.chip, one.address, x.shape, kind) for one, kind in kinds]
    room.sigmoid.compute(e, out, x, shorter, (room.table,))


def tanh(e: Emitter, out: LocalTensor, x: LocalTensor, free: LocalTensor, room: Room) -> None:
    """out = 2 sigmoid(2 x) - 1; `free` is worked in, out may be x."""
    e.arith(Arith.MUL, free, x, 2.0)
    sigmoid(e, out, free, room.wide, room)
    e.arith(Arith.MUL, free, out, 2.0)
    e.arith(Arith.SUB, out, free, 1.0)


Give = Callable[[LocalTensor, int, int], None]
"""Puts numbers of gates [first, first + count) into a dense tensor of that many."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a cell asks of the layer around it."""

    e: Emitter
    room: Room
    inputs: Give
    """Products of this step's input, with their biases."""
    total: Give
    """The same plus the products of the state."""
    recurrent: Give
    """Products of the state alone, with a bias of their own: of the last gate of a GRU."""
    give: Callable[[LocalTensor], None]
    """Makes a state, dense in f32, what is multiplied from now on."""


def lstm(step: Step, linear_before_reset: bool = False) -> None:
    """i, o, f, g -> c = f c + i g, h = o tanh(c). The tanh of g is a sigmoid of twice as much."""
    e, room = step.e, step.room
    step.total(room.gates, 0, 4)
    twice, kept, added = room.narrow[2:5]
    gate = room.gate(room.gates, 3)
    e.arith(Arith.MUL, twice, gate, 2.0)
    e.copy(gate, twice)
    sigmoid(e, room.activated, room.gates, room.wide, room)
    i, o, f, g = (room.gate(room.activated, index) for index in range(4))
    e.arith(Arith.MUL, twice, g, 2.0)
    e.arith(Arith.SUB, kept, twice, 1.0)
    e.arith(Arith.MUL, added, i, kept)
    e.arith(Arith.MUL, kept, f, room.c)
    e.arith(Arith.ADD, room.c, kept, added)
    tanh(e, added, room.c, twice, room)
    e.arith(Arith.MUL, room.h, o, added)
    step.give(room.h)


def gru(step: Step, linear_before_reset: bool = False) -> None:
    """z, r, g -> h = g + z (h - g), where g is tanh of x + r (h R + b), or of x + (r h) R + b."""
    e, room = step.e, step.room
    both = aligned(e.chip, room.gates.address, room.gate(room.gates, 0, 2).shape, F32)
    activated = aligned(e.chip, room.activated.address, both.shape, F32)
    product, candidate, other, more = room.narrow[2:6]
    step.total(both, 0, 2)
    sigmoid(e, activated, both, room.wide, room)
    z, r = (room.gate(room.activated, index) for index in range(2))
    if linear_before_reset:
        step.recurrent(product, 2, 1)
        e.arith(Arith.MUL, other, r, product)
        step.inputs(product, 2, 1)
        e.arith(Arith.ADD, candidate, product, other)
    else:
        e.arith(Arith.MUL, other, r, room.h)
        step.give(other)
        step.total(candidate, 2, 1)
    tanh(e, product, candidate, other, room)
    e.arith(Arith.SUB, other, room.h, product)
    e.arith(Arith.MUL, more, z, other)
    e.arith(Arith.ADD, room.h, product, more)
    step.give(room.h)


Cell = Callable[[Step, bool], None]
"""What is done at a step; the flag is a GRU's `linear_before_reset`."""
