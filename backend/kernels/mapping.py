"""What is computed element by element, or row by row, on tensors in local memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.tensor import (
    DType,
    LocalTensor,
    Shape4,
    strided,
)


@dataclass(frozen=True)
class Work:
    """The local tensors of one tile.

    Operands may be 1 long where the result is longer. Each table is a polynomial's coefficients
    in every lane, (1, lanes, 1, terms), as the SFU takes them.
    """

    out: LocalTensor
    operands: Sequence[LocalTensor]
    scratch: Sequence[LocalTensor] = ()
    tables: Sequence[LocalTensor] = ()


Compute = Callable[[Emitter, Work], None]


@dataclass(frozen=True, slots=True)
class Types:
    """Element types of an op's result and of its operands."""

    out: DType
    operands: tuple[DType, ...]


@dataclass(frozen=True, slots=True)
class Scratch:
    """A scratch tensor: as large as the tile, with another height or width, or of fixed shape."""

    dtype: DType
    height: int | None = None
    width: int | None = None
    fixed: Shape4 | None = None

    def shape(self, sizes: Shape4) -> Shape4:
        """Its shape beside a tile of these sizes."""
        if self.fixed is not None:
            return self.fixed
        n, c, h, w = sizes
        height = h if self.height is None else self.height
        return n, c, height, w if self.width is None else self.width


@dataclass(frozen=True)
class ElementWise:
    """An op on equal boxes of its tensors: how to compute it, its scratch tensors and tables."""

    compute: Compute
    scratch: tuple[Scratch, ...] = ()
    tables: tuple[tuple[float, ...], ...] = ()
    table_dtype: DType = DType.F32


Describe = Callable[[Operation, Types], ElementWise]
"""How an element-wise op is computed, for a layer over DDR or for a slice in local memory."""


TABLE_BYTES = 256
"""Room kept per lane for one table."""


def write_table(emitter: Emitter, table: LocalTensor, values: Sequence[float]) -> None:
    """Fill a table (1, lanes, 1, terms), one constant fill per term.

    Cheaper than loading it: a fill takes a cycle, a load of so few bytes hundreds.
    """
    for index, value in enumerate(values):
        shape = (1, table.shape[1], 1, 1)
        emitter.copy(strided(table.at(w=index), shape, (0, 0, 0, 1), table.dtype), value)
