"""What is said once about an instruction: its operands, the fields it reads, what it costs.

Tables of `Family` (one module of tables for each instruction set) are the only place that knows
the meaning of a form's fields besides the machine, which is the second opinion. The operands of a
command (`backend/operands`), the checks, the diagnosis and the cycles are read off them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any, TypeAlias

from xdsl_tpu.backend.isa.codes import Precision
from xdsl_tpu.backend.isa.costs import Cost
from xdsl_tpu.backend.isa.terms import Fields, Figures, Term

Shape: TypeAlias = tuple[Term, Term, Term, Term]
"""(n, c, h, w)."""


class Place(Enum):
    """How the elements of an operand lie (docs/hardware/machine.md#placement)."""

    ALIGNED = "rows of h*w padded to the EU width"
    COMPACT = "no padding"
    LINES = "every row padded to the EU width"
    CODED = "aligned, or with strides, as its layout field says"
    BLOCKS = "blocks of columns over the lanes, aligned; the last block may be narrower"
    COEFFICIENTS = "in every lane of the result at one offset"
    TABLE = "rows of a lane's own, or one for all groups of the lane, as its layout field says"
    STATIC = "in a row in static memory"
    STEPS = "with strides, or dense in DDR and aligned in local memory"
    ROW_STEPS = "the same, whose rows are dense"
    RUN = "in a row"
    MATRIX = "rows in DDR, blocks of columns over the lanes in local memory"


class Lane(Enum):
    """On which lane the operands in local memory start."""

    OF_RESULT = "the lane of the result"
    FIRST = "lane 0"
    ANY = "any lane"


Condition: TypeAlias = Callable[[Fields], bool]


def always(fields: Fields) -> bool:
    """In every command."""
    return True


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand of an instruction, at the address that its fields hold.

    `type` is the field of its precision, or its type; None for words of parameters. A command has
    the operand if `when` holds and the field `constant` (there is one for it) is 0. Of `packed`
    ones int4 is known. The operand is `in_step` when it is read as the result advances, else it
    may be read until the end. `last` is the field with the columns of the last block.
    """

    name: str
    shape: Shape
    type: str | Precision | None
    place: Place = Place.ALIGNED
    writes: bool = False
    constant: str = ""
    when: Condition = always
    packed: bool = False
    in_step: bool = False
    last: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Fields of which nobody knows what they mean together."""

    applies: Callable[[Fields, Figures], bool]
    why: str | Callable[[Fields, Figures], str]


EITHER_SIGN = ("opd0_sign", "opd1_sign")


@dataclass(frozen=True, slots=True)
class Described:
    """What some functions of a family do.

    `also` are fields that they read besides those of their operands, `unread` fields of operands
    that they do not, `idle` fields that were seen set without changing anything. `signed` says
    when an integer result is: when one of these fields is set, always, or never (`()`); `saturates`
    that the result is rounded and stops at the limits of its type. `absent` are fields that say
    that operands are not there, in commands that are not given them. `scale` is the field of a
    constant factor, where instruction sets differ in it.
    """

    functions: tuple[IntEnum, ...]
    operands: tuple[Operand, ...]
    also: str = ""
    unread: str = ""
    idle: str = ""
    refusals: tuple[Refusal, ...] = ()
    signed: tuple[str, ...] | bool = EITHER_SIGN
    saturates: bool = False
    absent: tuple[tuple[str, int], ...] = ()
    scale: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """Forms of the same functions, of which `form` is the one that is described.

    `cost` is that of all functions of all forms, or of each one; None where it is not known. The
    set has none of the functions in `without`. In front of each command of `primed` forms goes a
    copy of one element onto itself, as the vendor's compiler has it; why is not known.
    """

    name: str
    functions: type[IntEnum] | None
    cost: Cost | Mapping[Any, Cost] | None  # of all functions, or by function
    form: str = ""
    described: tuple[Described, ...] = ()
    lanes: Lane = Lane.OF_RESULT
    signed_floats: bool = False
    without: frozenset[int] = frozenset()
    primed: bool = False


@dataclass(frozen=True, slots=True)
class Instruction:
    """A function of a form. `described` is None where its operands are not known.

    Every field is in one of `reads`, `without_effect` and `unknown`, or belongs to the queues.
    """

    function: int
    name: str
    cost: Cost | None = None
    described: Described | None = None
    lanes: Lane = Lane.OF_RESULT
    reads: frozenset[str] = frozenset()
    without_effect: frozenset[str] = frozenset()
    unknown: frozenset[str] = frozenset()
