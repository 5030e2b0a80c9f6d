"""What a transposition costs: one of them, its bytes, or the cycles its kernel takes."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Literal, TypeAlias

from xdsl.dialects.builtin import (
    BFloat16Type,
    FixedBitwidthType,
    Float16Type,
    NoneType,
    TensorType,
    f32,
)
from xdsl.ir import Attribute, Block

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.layout import Order, moves_data
from xdsl_tpu.passes.canonicalize.permute_order import Permutation
from xdsl_tpu.passes.layout.problem import FREE, Cost

Unit: TypeAlias = Literal["count", "bytes", "cycles"]
UNITS: tuple[Unit, ...] = ("count", "bytes", "cycles")

_ELEMENTS: dict[str, Attribute] = {"F32": f32, "F16": Float16Type(), "BF16": BFloat16Type()}


@dataclass
class CopyCosts:
    """Prices of transpositions in one unit; equal ones are told apart by a second unit.

    | unit | minimised first | then |
    |---|---|---|
    | count | transpositions | bytes |
    | bytes | bytes of their results | transpositions |
    | cycles | cycles of their kernels, each alone, on `chip` with elements of `mode` | bytes |
    """

    unit: Unit
    chip: Chip | None = None
    mode: str = "F16"
    _known: dict[tuple[tuple[int, ...], Order], int] = field(
        default_factory=dict[tuple[tuple[int, ...], Order], int]
    )

    @staticmethod
    def of(unit: str, chip: str, mode: str) -> "CopyCosts":
        """Costs in one unit; TpuError for an unknown unit, chip or number format."""
        if unit not in UNITS:
            raise TpuError(f"cost '{unit}' is unknown: it is count, bytes or cycles")
        if mode not in _ELEMENTS:
            raise TpuError(f"mode '{mode}' is unknown: it is {', '.join(_ELEMENTS)}")
        return CopyCosts(unit, load_chip(chip) if unit == "cycles" else None, mode)

    def copy(self, type: TensorType[Attribute], order: Order, trips: int = 1) -> Cost:
        """What a transposition of a tensor costs that is made `trips` times.

        One that moves no data is a reshape: free, but not better than nothing.
        """
        if not moves_data(type.get_shape(), order):
            return Cost(changes=1)
        size = type_bytes(type) * trips
        makers: dict[Unit, Callable[[], Cost]] = {
            "count": lambda: Cost(trips, size),
            "bytes": lambda: Cost(size, trips),
            "cycles": lambda: Cost(self._cycles(type.get_shape(), order) * trips, size),
        }
        return makers[self.unit]()

    def own(self, cycles: int) -> Cost:
        """Cycles that an op itself takes: they count when cycles are minimised."""
        return Cost(cycles) if self.unit == "cycles" else FREE

    def _cycles(self, shape: tuple[int, ...], order: Order) -> int:
        """Cycles of a Permute kernel. Imported here, as most passes need no kernels."""
        move = Permutation(tuple(max(size, 1) for size in shape), order)
        move = move.at_rank(4) or move
        key = (move.shape, move.order)
        if key not in self._known:
            assert self.chip is not None
            types = [TensorType(_ELEMENTS[self.mode], size) for size in (move.shape, move.result)]
            operands = Block(arg_types=[types[0], NoneType()]).args
            op = tpu.PermuteOp.make("copy", operands, result_types=types[1:], order=move.order)
            layer_cost = import_module("xdsl_tpu.backend.layer_cost")
            self._known[key] = layer_cost.price_alone(op, self.chip).cycles
        return self._known[key]


def type_bytes(type: TensorType[Attribute]) -> int:
    """Bytes of a tensor; unknown dimensions count 1 and elements without a width 4 bytes."""
    element = type.element_type
    width = -(-element.bitwidth // 8) if isinstance(element, FixedBitwidthType) else 4
    return math.prod(max(size, 1) for size in type.get_shape()) * width
