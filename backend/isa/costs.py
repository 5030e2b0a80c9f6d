"""What an instruction costs, as data: which formula of `backend/timing` applies to which fields.

The formulas and their figures were probed command by command against tpu-mlir 1.30.2
(docs/hardware/cycles.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from xdsl_tpu.backend.isa.terms import Term


class OneBank(Enum):
    """When result and operand count as lying in one bank, which takes twice the time."""

    NEVER = "never"
    OF_A_LANE = "the same bank of any lanes"
    OF_ONE_LANE = "the same bank of the same lane"


@dataclass(frozen=True, slots=True)
class Passes:
    """`times` multiplied, for every round of lanes (if `rounds`) and EU width of the `line`.

    The width is that of the widest of the precision fields `types`, or so many bytes.
    """

    types: tuple[str, ...] | int
    times: tuple[Term, ...] = ("res0_n",)
    line: tuple[Term, ...] = ("res0_h", "res0_w")
    rounds: bool = True
    one_bank: OneBank = OneBank.NEVER
    factor: float = 1


@dataclass(frozen=True, slots=True)
class ElementWise:
    """One pass over the result, more where operands have strides, two in place.

    `newton` has the passes of functions that iterate: of the first iteration, and of each one more.
    With `free_at_end` a copy of the last place of the last lane onto itself costs nothing.
    """

    free_in_place: frozenset[int]
    newton: Mapping[int, tuple[int, int]]
    free_at_end: bool = False


@dataclass(frozen=True, slots=True)
class Array:
    """Blocks of the matrix unit: lanes of `rows`, outputs of `columns`, inputs of `depth`."""

    times: tuple[Term, ...]
    rows: Term
    columns: tuple[Term, ...]
    depth: Term


@dataclass(frozen=True, slots=True)
class Products:
    """One k a cycle; a bias (of f32, and of functions in `biased`) or an old result is one more."""

    rows: Term
    depth: Term
    biased: frozenset[int]


@dataclass(frozen=True, slots=True)
class Windows:
    """Taps of a window over the result, `strided` times as long with strides both ways."""

    strided: int


@dataclass(frozen=True, slots=True)
class TensorCopy:
    """A transfer between strided tensors, constants included."""


@dataclass(frozen=True, slots=True)
class Broadcast:
    """A transfer from one channel to many lanes."""


@dataclass(frozen=True, slots=True)
class MatrixCopy:
    """A transfer of rows, possibly transposed."""

    transposed: bool


@dataclass(frozen=True, slots=True)
class EvenRate:
    """`elements` multiplied, at one rate; of each, `position_bytes` count instead of its own."""

    elements: tuple[Term, ...]
    position_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Free:
    """A marker."""


Cost: TypeAlias = (
    Passes
    | ElementWise
    | Array
    | Products
    | Windows
    | TensorCopy
    | Broadcast
    | MatrixCopy
    | EvenRate
    | Free
)
