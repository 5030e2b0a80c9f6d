"""What converters work with: the top values of a job's values, and ops with unique names."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import NoneType, TensorType, UnknownLoc, f32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.shape import ShapeInference, known_shape
from xdsl_tpu.dialects.names import name_loc, name_of
from xdsl_tpu.dialects.random_masks import RandomMask
from xdsl_tpu.passes.tensors import shape_of

Shape: TypeAlias = tuple[int, ...]

TO_LAST, TO_FIRST = (0, 2, 3, 1), (0, 3, 1, 2)
"""Orders of a permute that puts the channels of an image last, or second."""


class UnsupportedOp(TpuError):
    """An op that has no counterpart in `top`."""


class Context:
    """The function under construction. All tensors are f32 and have one dimension at least."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.block = Block()
        self.masks: dict[str, RandomMask] = {}
        self.constants: dict[str, npt.NDArray[np.float32]] = {}
        self.none: SSAValue = self._add(
            top.NoneOp.make(UnknownLoc(), (), result_types=[NoneType()])
        )
        self._taken = set(taken)
        self._values: dict[SSAValue, SSAValue] = {}
        self._later: dict[SSAValue, Callable[[], SSAValue]] = {}
        self._weights: dict[str, SSAValue] = {}
        self._made: set[Operation] = set()

    def bind(self, value: SSAValue, made: SSAValue) -> None:
        """Say what a value of the job is."""
        self._values[value] = made

    def bind_later(self, value: SSAValue, make: Callable[[], SSAValue]) -> None:
        """Say how to make a value of the job once something reads it."""
        self._later[value] = make

    def value(self, value: SSAValue) -> SSAValue:
        """What a value of the job is in `top`."""
        if (make := self._later.pop(value, None)) is not None:
            self.bind(value, make())
        if value not in self._values:
            raise UnsupportedOp(f"its operand '{name_of(value)}' has no counterpart in top")
        return self._values[value]

    def optional(self, value: SSAValue | None) -> SSAValue:
        """As `value`, or none for an absent one."""
        return self.none if value is None else self.value(value)

    def input(self, name: str, shape: Shape) -> SSAValue:
        """A new argument of the function and its `top.Input`."""
        kind = TensorType(f32, shape or (1,))
        argument = self.block.insert_arg(kind, len(self.block.args))
        return self._add(top.InputOp.make(self._unique(name), (argument,), result_types=[kind]))

    def mask(self, op: Operation, shape: Shape, mask: RandomMask) -> SSAValue:
        """A new argument that is a random mask, for whoever runs the program to make."""
        made = self.input(f"{base_name(op)}_input", shape)
        self.masks[str(name_of(made))] = mask
        return made

    def weight(self, op: Operation) -> SSAValue:
        """The weight that a variable names; one for all variables of that name."""
        name, shape = name_of(op), known_shape(op.results[0].type)
        if name is None or shape is None:
            raise UnsupportedOp("a variable needs an op_name and a static shape")
        if name not in self._weights:
            kind = TensorType(f32, shape or (1,))
            self._weights[name] = self._add(top.WeightOp.make(name, (), result_types=[kind]))
        return self._weights[name]

    def emit(
        self, op: Operation, kind: type[NamedOp], operands: Sequence[SSAValue], **attributes: Any
    ) -> SSAValue:
        """An op of one result on the way from `op`'s operands to its results."""
        label = kind.name.rpartition(".")[2]
        made = kind.make(self._unique(f"{base_name(op)}_{label}"), operands, **attributes)
        assert isinstance(made, ShapeInference)
        (shape,) = made.infer_shapes()
        typed = kind.create(
            operands=made.operands,
            result_types=[TensorType(f32, shape)],
            attributes=made.attributes,
            location=made.location,
        )
        made.erase()
        self._made.add(typed)
        return self._add(typed)

    def finish(self, op: Operation, *results: SSAValue) -> None:
        """Bind the results of `op`; the op that makes the first takes over its name."""
        maker, name = results[0].owner, name_of(op)
        if isinstance(maker, Operation) and maker in self._made and name:
            maker.location = name_loc(self._unique(name))
            self._made.discard(maker)
        for value, made in zip(op.results, results, strict=False):
            self.bind(value, made)

    def permuted(self, op: Operation, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """A value with its dimensions in another order."""
        if list(order) == sorted(order):
            return value
        return self.emit(op, top.PermuteOp, (value,), order=order)

    def reshaped(self, op: Operation, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A value in another shape."""
        if shape_of(value) == tuple(shape):
            return value
        return self.emit(op, top.ReshapeOp, (value,), shape=shape)

    def plus(self, op: Operation, value: SSAValue, more: SSAValue | None) -> SSAValue:
        """A value plus an operand of the job, if there is one."""
        return value if more is None else self.emit(op, top.AddOp, (value, self.value(more)))

    def times(self, op: Operation, value: SSAValue, factor: float) -> SSAValue:
        """A value times a number."""
        if factor == 1.0:
            return value
        return self.emit(op, top.MulConstOp, (value,), const_val=factor)

    @property
    def has_weights(self) -> bool:
        """Whether the function reads any weight."""
        return bool(self._weights)

    def _add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def _unique(self, name: str) -> str:
        candidate, number = name, 0
        while candidate in self._taken:
            number += 1
            candidate = f"{name}_{number}"
        self._taken.add(candidate)
        return candidate


Converter: TypeAlias = Callable[[Context, Any], None]
Converters: TypeAlias = Mapping[type[Operation], Converter]


def base_name(op: Operation) -> str:
    """The op's name; its kind when it has none."""
    return name_of(op) or op.name.partition(".")[2]


def refuse_used(op: Operation, first: int, what: str) -> None:
    """Raise UnsupportedOp when a result from `first` on has users."""
    if any(True for result in op.results[first:] for _ in result.uses):
        raise UnsupportedOp(f"its {what} cannot be used")


def along(shape: Shape, axis: int) -> list[int]:
    """The shape of a vector that varies along `axis` of `shape`, without dimensions before it."""
    return [shape[axis], *(1 for _ in shape[axis + 1 :])]


def elements(shape: Sequence[int]) -> int:
    """How many elements a tensor has."""
    return prod(shape)


def result_shape(result: SSAValue) -> Shape:
    """The shape of a result, which the dialect's verifier has settled."""
    kind: Attribute = result.type
    shape = known_shape(kind)
    if shape is None:
        raise UnsupportedOp(f"its result has type {kind}; shapes must be static")
    return shape
