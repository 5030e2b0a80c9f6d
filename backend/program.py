"""A program: two command queues, the coefficient image, where inputs and outputs lie."""

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.tensor import DType
from xdsl_tpu.dialects.input_ranges import InputRange
from xdsl_tpu.dialects.random_masks import RandomMask
from xdsl_tpu.dialects.records import record


@record(frozen=True)
class IoTensor:
    """A network input or output: row-major in DDR at `address`."""

    name: str
    address: int
    shape: tuple[int, ...]
    dtype: DType

    @property
    def bytes(self) -> int:
        """Bytes of the elements."""
        return math.prod(self.shape) * self.dtype.bytes


@record(frozen=True)
class Layer:
    """The IR op that a run of commands comes from: its tensor name and op name, and what part of
    the weights that it multiplies by is zero."""

    name: str
    op: str
    zeros: float = 0.0


@dataclass
class Program:
    """What a bmodel holds.

    `tiu` and `gdma` are the queues in issue order, end commands included. `tiu_layers` and
    `gdma_layers` give, for every command, the index of its layer in `layers` (-1: none).
    `random_masks` says which inputs are masks that the host makes before it runs the program.
    `input_ranges` are the numbers that inputs may be which are ids, positions or masks.
    Inputs and outputs lie in the arena or, with `io_bytes`, at `io_address` apart from it.
    `chip_figures` are those it was made with (`backend/chip/identity.py`); none for programs of
    others, which are for a BM1684X. `others` has what further cores run: of these only the queues
    are looked at, and which layers their commands have in the same `layers`.
    """

    name: str
    chip: str
    quantize: str
    tiu: list[Command] = field(default_factory=list[Command])
    gdma: list[Command] = field(default_factory=list[Command])
    layers: list[Layer] = field(default_factory=list[Layer])
    tiu_layers: list[int] = field(default_factory=list[int])
    gdma_layers: list[int] = field(default_factory=list[int])
    coefficients: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    coefficient_address: int = 0
    arena_address: int = 0
    arena_bytes: int = 0
    io_address: int = 0
    io_bytes: int = 0
    inputs: list[IoTensor] = field(default_factory=list[IoTensor])
    outputs: list[IoTensor] = field(default_factory=list[IoTensor])
    random_masks: dict[str, RandomMask] = field(default_factory=dict[str, RandomMask])
    input_ranges: dict[str, InputRange] = field(default_factory=dict[str, InputRange])
    chip_figures: dict[str, Any] = field(default_factory=dict[str, Any])
    others: list["Program"] = field(default_factory=list["Program"])

    @property
    def cores(self) -> list["Program"]:
        """One for each core; they begin together."""
        return [self, *self.others]

    def beside(self) -> "Program":
        """Queues for one core more, which goes by the same layers and memory; added to `others`."""
        other = replace(self, tiu=[], gdma=[], tiu_layers=[], gdma_layers=[], others=[])
        self.others.append(other)
        return other

    def queue(self, engine: Engine) -> list[Command]:
        """The commands of one engine."""
        return self.tiu if engine is Engine.TIU else self.gdma

    def layer_indices(self, engine: Engine) -> list[int]:
        """For each command of one engine, the index of its layer."""
        return self.tiu_layers if engine is Engine.TIU else self.gdma_layers
