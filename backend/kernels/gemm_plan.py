"""Products of matrices in DDR, and their cutting into tiles."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from xdsl_tpu.backend.kernels.clamp import Clamp
from xdsl_tpu.backend.kernels.int8.requant import Factor
from xdsl_tpu.backend.kernels.tiling import Piece, Turn, cut, slots_of, turns
from xdsl_tpu.backend.tensor import DType, GlobalTensor, ceil_div


@dataclass(frozen=True, slots=True)
class Matrix:
    """Matrices of one shape in DDR, as stored: row r of matrix i is at starts[i] + r * stride."""

    address: int
    dtype: DType
    rows: int
    columns: int
    stride: int
    starts: tuple[int, ...]

    def part(self, index: int, rows: Piece, columns: Piece) -> GlobalTensor:
        """A block as (1, rows, 1, columns)."""
        offset = self.starts[index] + rows.start * self.stride + columns.start
        shape = (1, rows.size, 1, columns.size)
        strides = (rows.size * self.stride, self.stride, columns.size, 1)
        address = self.address + offset * self.dtype.bytes
        return GlobalTensor(address, shape, strides, self.dtype)

    def some(self, rows: Piece | None = None, columns: Piece | None = None) -> "Matrix":
        """Some rows, or some columns, of every matrix."""
        rows = rows or Piece(0, self.rows)
        columns = columns or Piece(0, self.columns)
        offset = (rows.start * self.stride + columns.start) * self.dtype.bytes
        return replace(self, address=self.address + offset, rows=rows.size, columns=columns.size)


@dataclass(frozen=True, slots=True)
class Product:
    """out[i] = left[i] x right[i] + bias; the flags say how the operands are stored.

    Of integers the exact i32 result is brought to its scale by `factor`, which is also the relu.
    """

    left: Matrix
    right: Matrix
    out: Matrix
    bias: GlobalTensor | None
    left_transpose: bool
    right_transpose: bool
    clamp: Clamp
    factor: Factor | None = None

    @property
    def depth(self) -> int:
        """K."""
        return self.left.rows if self.left_transpose else self.left.columns

    @property
    def wide(self) -> bool:
        """Whether the product is in f32."""
        return self.left.dtype is DType.F32

    @property
    def turns_right(self) -> bool:
        """Whether the right operand must be transposed in local memory: the convolution unit
        wants K on the lanes, while MM2 takes either."""
        return self.wide and self.right_transpose

    @property
    def extra(self) -> int:
        """Element-wise commands after the product, on results of the final type."""
        if self.factor is not None:
            return 0
        return self.clamp.passes + (self.bias is not None)

    def of_rows(self, rows: Piece) -> "Product":
        """The products that make some rows of each result."""
        left = self.left.some(columns=rows) if self.left_transpose else self.left.some(rows=rows)
        return replace(self, left=left, out=self.out.some(rows=rows))

    def of_columns(self, columns: Piece) -> "Product":
        """The products that make some columns of each result."""
        transposed = self.right_transpose
        right = self.right.some(rows=columns) if transposed else self.right.some(columns=columns)
        bias = self.bias
        if bias is not None:
            bias = bias.window((0, 0, 0, columns.start), (1, 1, 1, columns.size))
        return replace(self, right=right, out=self.out.some(columns=columns), bias=bias)


@dataclass(frozen=True, slots=True)
class Step:
    """One product of tiles of matrix `index`."""

    index: int
    rows: Piece
    columns: Piece
    turn: Turn

    @property
    def depth(self) -> Piece:
        """The piece of K."""
        return self.turn.piece

    def left_source(self, product: Product) -> GlobalTensor:
        """The left tile as stored."""
        pieces = (self.rows, self.depth)
        pieces = pieces[::-1] if product.left_transpose else pieces
        return product.left.part(self.index, *pieces)

    def right_source(self, product: Product) -> GlobalTensor:
        """The right tile as stored."""
        pieces = (self.depth, self.columns)
        pieces = pieces[::-1] if product.right_transpose else pieces
        return product.right.part(self.index, *pieces)

    def out_target(self, product: Product) -> GlobalTensor:
        """Where the result tile goes."""
        return product.out.part(self.index, self.rows, self.columns)


@dataclass(frozen=True, slots=True)
class Plan:
    """Tile sizes in rows, columns and K, and which operand is held while the other streams."""

    rows: int
    columns: int
    depth: int
    hold_left: bool

    def steps(self, product: Product) -> Iterator[Step]:
        """The work in order, matrix after matrix."""
        rows, columns = cut(product.out.rows, self.rows), cut(product.out.columns, self.columns)
        depths = cut(product.depth, self.depth)
        for index in range(len(product.out.starts)):
            for turn in turns(len(rows), len(columns), depths, self.hold_left, index):
                yield Step(index, rows[turn.left], columns[turn.right], turn)

    def _tiles(self, product: Product) -> tuple[int, int, int, int]:
        """Matrices, pieces of rows, of columns and of K."""
        return (
            len(product.out.starts),
            ceil_div(product.out.rows, self.rows),
            ceil_div(product.out.columns, self.columns),
            ceil_div(product.depth, self.depth),
        )

    def count(self, product: Product) -> int:
        """How many steps there are."""
        return math.prod(self._tiles(product))

    def slots(self, product: Product) -> tuple[int, int, int]:
        """Buffers for left, right and result tiles."""
        return slots_of(*self._tiles(product))
