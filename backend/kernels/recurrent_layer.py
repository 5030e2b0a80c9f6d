"""What a recurrent layer is to its kernel, and the blocks that it is computed in."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl_tpu.backend.kernels.recurrent_cells import Cell
from xdsl_tpu.backend.kernels.recurrent_plan import Sizes
from xdsl_tpu.backend.kernels.sequences.unary import Unary
from xdsl_tpu.backend.kernels.support import DdrValue
from xdsl_tpu.backend.kernels.tiling import Piece


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
