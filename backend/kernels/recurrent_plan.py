"""Sizes of a recurrent layer, and how it is cut so that it fits local memory.

Rows of gate weights lie on the lanes: unit j of every gate in lane j mod lanes. A *slot* is what a
lane holds of one gate for one of its units; gates begin at slots of their own, so that those of a
unit are in one lane whatever their number.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.recurrent_cells import Cell
from xdsl_tpu.backend.kernels.sequences.unary import Unary
from xdsl_tpu.backend.kernels.support import DdrValue
from xdsl_tpu.backend.kernels.tiling import Piece, chunks_of
from xdsl_tpu.backend.tensor import DType, Shape4, align, ceil_div

F32 = DType.F32


@dataclass(frozen=True, slots=True)
class Sizes:
    """A layer: steps, sequences, numbers a step reads, units, gates, directions."""

    steps: int
    batch: int
    inputs: int
    units: int
    gates: int
    directions: int
    dtype: DType
    bias_slots: int
    """Biases of a lane; 0 without."""

    def per_gate(self, chip: Chip) -> int:
        """Slots of a gate."""
        return ceil_div(self.units, chip.lanes)

    def slots(self, chip: Chip) -> int:
        """Slots of all gates."""
        return self.gates * self.per_gate(chip)

    def bias_shapes(self, chip: Chip) -> tuple[Shape4, Shape4]:
        """Biases of inputs and states, a row per gate; the same with units on the lanes."""
        rows = 2 * self.gates
        return (1, rows, 1, self.units), (1, self.per_gate(chip) * chip.lanes, 1, rows)

    def row_bytes(self, depth: int, chip: Chip) -> int:
        """Of a row of weights: as MM2 reads it, or, in f32, a filter."""
        size = depth * self.dtype.bytes
        return size if self.dtype is F32 else align(size, chip.eu_bytes)


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer's operands and results in DDR, absent ones None; states are h, and c of an LSTM."""

    sizes: Sizes
    cell: Cell
    sigmoid: Unary
    batch_first: bool
    linear_before_reset: bool
    x: DdrValue
    weights: DdrValue
    recurrence: DdrValue
    bias: DdrValue | None
    initial: Sequence[DdrValue | None]
    y: DdrValue | None
    final: Sequence[DdrValue | None]

    @property
    def sequence_strides(self) -> tuple[int, int]:
        """Elements between steps and between sequences of x, in its rows."""
        return (1, self.sizes.steps) if self.batch_first else (self.sizes.batch, 1)


@dataclass(frozen=True, slots=True)
class Block:
    """Steps and sequences that are computed together, and which columns they have."""

    way: int
    steps: Piece
    batch: Piece
    by_step: bool
    """Whether inputs have the sequences of a step side by side, or the steps of a sequence."""

    @property
    def pixels(self) -> int:
        """Columns in all."""
        return self.steps.size * self.batch.size

    @property
    def strides(self) -> tuple[int, int]:
        """Columns from step to step and from sequence to sequence, of inputs."""
        return (self.batch.size, 1) if self.by_step else (1, self.steps.size)


@dataclass(frozen=True, slots=True)
class Plan:
    """How many sequences and steps are computed at a time, and how many slots of weights are
    loaded at a time: all (then they stay, once loaded), or two tiles in turn."""

    batch: int
    steps: int
    recurrent: int
    inputs: int
    places: int
    """Matrices of recurrent weights that there is room for: one for each direction, or one."""


def plans(sizes: Sizes, chip: Chip) -> Iterator[Plan]:
    """Ways to cut the layer, those that load least first.

    Recurrent weights are read at every step: they stay if they can. Those of the inputs are read
    once for each block of steps.
    """
    slots = sizes.slots(chip)
    places = dict.fromkeys((sizes.directions, 1))
    held = [(slots, place) for place in places]
    for batch in chunks_of(sizes.batch, 1):
        for recurrent, place in (*held, *((part, 1) for part in _parts(slots))):
            for steps in chunks_of(sizes.steps, 1):
                for inputs in (slots, *_parts(slots)):
                    yield Plan(batch, steps, recurrent, inputs, place)


def _parts(slots: int) -> list[int]:
    """Sizes of tiles worth trying, largest first."""
    return list(dict.fromkeys(ceil_div(slots, count) for count in (2, 3, 4, 8, 16, slots)))[:6]
