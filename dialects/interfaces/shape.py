"""Ops that know the shapes of their results."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ShapedType, TensorType, UnrankedTensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import name_of

Shape: TypeAlias = tuple[int, ...]
Constants: TypeAlias = Callable[[SSAValue], Sequence[int | float] | None]
"""Gives the elements of a constant value in order, None for a value that is not constant."""


class ShapeError(TpuError):
    """Shapes that do not fit together, or are not known."""


class UnknownShapeError(ShapeError):
    """A shape, or a value that a shape depends on, which is not known (yet)."""


_constants: ContextVar[Constants] = ContextVar("constants", default=lambda value: None)


@contextmanager
def constants_from(lookup: Constants) -> Generator[None]:
    """Let `lookup` answer `constant_operand` within the `with` block.

    Whoever infers shapes knows where the weights are; the dialect does not.
    """
    token = _constants.set(lookup)
    try:
        yield
    finally:
        _constants.reset(token)


class ShapeInference(Operation, ABC):
    """An op whose result shapes follow from its operands' types and its attributes.

    The op is also verified by it: operands that do not fit are an error, and so is a ranked
    result type that says something else. Scalars are tensors of one element and rank 1.
    """

    @abstractmethod
    def result_shapes(self) -> tuple[Shape, ...]:
        """The rule of this op, one shape a result, () for a `none`; raises ShapeError."""

    def infer_shapes(self) -> tuple[Shape, ...]:
        """One shape a result, () for a result of type `none`.

        Raises:
            ShapeError: an operand's shape is unknown, or the shapes do not fit; the message
                names the op, its location and the shapes.
        """
        try:
            return self._checked_shapes()
        except ShapeError as error:
            raise type(error)(f"{_designation(self)}: {error}") from None

    def resolve(self) -> None:
        """Put settled values for attributes that leave something to the operands' shapes.

        Examples are the window of a global pool, automatic padding and negative axes. Called
        after the shapes of the operands are known; does nothing for most ops.
        """

    def shape_of(self, operand: SSAValue, *ranks: int) -> Shape:
        """The shape of an operand of this op, which must have one of `ranks` if any are given.

        Raises:
            UnknownShapeError: the operand has no shape yet.
            ShapeError: it has another rank.
        """
        shape, index = known_shape(operand.type), self.operands.index(operand)
        if shape is None:
            raise UnknownShapeError(f"the shape of operand {index} is not known ({operand.type})")
        if ranks and len(shape) not in ranks:
            allowed = " or ".join(map(str, ranks))
            raise ShapeError(f"operand {index} is {dims(shape)}, but must have rank {allowed}")
        return shape

    def constant_operand(self, index: int) -> tuple[int | float, ...]:
        """The elements of operand `index`, which must be a constant known to `constants_from`.

        Raises:
            UnknownShapeError: the operand's value is not known.
        """
        elements = _constants.get()(self.operands[index])
        if elements is None:
            raise UnknownShapeError(f"operand {index} must be a constant to know the shape")
        return tuple(elements)

    def constant_scalar(self, index: int) -> int | float:
        """The one element of a constant operand; raises ShapeError when it has not just one."""
        elements = self.constant_operand(index)
        if len(elements) != 1:
            raise ShapeError(f"operand {index} has {len(elements)} elements instead of one")
        return elements[0]

    def _checked_shapes(self) -> tuple[Shape, ...]:
        shapes = self.result_shapes()
        if len(shapes) != len(self.results):
            raise ShapeError(f"there are {len(self.results)} results instead of {len(shapes)}")
        for index, shape in enumerate(shapes):
            if min(shape, default=0) < 0:
                raise ShapeError(f"result {index} would have the impossible shape {dims(shape)}")
        return shapes

    def verify_(self) -> None:
        super().verify_()
        try:
            inferred = self._checked_shapes()
        except UnknownShapeError:
            return
        except ShapeError as error:
            raise VerifyException(str(error)) from None
        for index, (result, shape) in enumerate(zip(self.results, inferred, strict=True)):
            declared = known_shape(result.type)
            if declared is not None and declared != shape:
                raise VerifyException(
                    f"result {index} is declared as {dims(declared)}, but the operands make it "
                    f"{dims(shape)}"
                )


def known_shape(type: Attribute) -> Shape | None:
    """The shape of a ranked tensor type without dynamic dimensions, None of anything else."""
    if type.__class__ is TensorType:  # asked for more often than anything else
        shape = tuple([size.data for size in cast("TensorType[Attribute]", type).shape.data])
    elif isinstance(type, ShapedType):
        shape = tuple(type.get_shape())
    else:
        return None
    return shape if min(shape, default=0) >= 0 else None


def with_shape(type: Attribute, shape: Shape) -> Attribute:
    """A tensor type, ranked or not, with another shape; `none` stays as it is."""
    if isinstance(type, TensorType | UnrankedTensorType):
        return TensorType(cast("TensorType[Attribute]", type).element_type, shape)
    return type


def dims(shape: Sequence[int]) -> str:
    """A shape as in a type: `1x3x224x224`; `scalar` when there are no dimensions."""
    return "x".join(map(str, shape)) or "scalar"


def _designation(op: Operation) -> str:
    name = name_of(op)
    return op.name if name is None else f'{op.name} "{name}"'
