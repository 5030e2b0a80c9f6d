"""The arithmetic of shapes: pure functions that several ops share.

All of them take and give plain tuples and raise ShapeError without naming an op; the caller
adds which one it was.
"""

from collections.abc import Iterable, Sequence
from math import prod

from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.records import record


def broadcast(*shapes: Shape) -> Shape:
    """numpy's broadcasting: align on the right, sizes of 1 stretch."""
    rank = max(map(len, shapes), default=0)
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    result: list[int] = []
    for sizes in zip(*padded, strict=True):
        stretched = {size for size in sizes if size != 1}
        if len(stretched) > 1:
            raise ShapeError(f"cannot broadcast {' with '.join(map(dims, shapes))}")
        result.append(stretched.pop() if stretched else 1)
    return tuple(result)


def scalar_as_one(shape: Iterable[int]) -> Shape:
    """`shape`, or (1,) when no dimension is left: scalars are tensors of one element here."""
    return tuple(shape) or (1,)


def axis_of(axis: int, rank: int) -> int:
    """`axis` counted from the front; negative ones count from the back."""
    if not -rank <= axis < rank:
        raise ShapeError(f"axis {axis} is out of range for rank {rank}")
    return axis % rank


def axes_of(axes: Iterable[int], rank: int) -> tuple[int, ...]:
    """Distinct axes counted from the front, ascending."""
    found = [axis_of(axis, rank) for axis in axes]
    if len(set(found)) != len(found):
        raise ShapeError(f"axes {found} repeat one of them")
    return tuple(sorted(found))


@record(frozen=True)
class Window:
    """A window sliding along one dimension, with the padding it may enter; it sees elements `apart`
    positions from each other, zeros between them."""

    kernel: int
    stride: int = 1
    dilation: int = 1
    before: int = 0
    after: int = 0
    apart: int = 1

    @property
    def extent(self) -> int:
        """How many elements the window spans."""
        return (self.kernel - 1) * self.dilation + 1

    def positions(self, size: int, ceil_mode: bool = False) -> int:
        """How often the window fits in `size` elements and the padding.

        With `ceil_mode` a last window may reach beyond the padding, provided it starts
        within the elements or the padding before them (ONNX, MaxPool, ceil_mode).
        """
        room = size + self.before + self.after - self.extent
        steps = -(-room // self.stride) if ceil_mode else room // self.stride
        if ceil_mode and steps * self.stride >= size + self.before:
            steps -= 1
        if steps < 0:
            raise ShapeError(
                f"a window over {self.extent} does not fit into {size} elements "
                f"padded by {self.before} and {self.after}"
            )
        return steps + 1


def windows(
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
) -> tuple[Window, ...]:
    """One window a spatial dimension; `pads` holds all befores and then all afters."""
    rank = len(sizes)
    named = {"kernel_shape": kernel, "strides": strides, "dilations": dilations}
    for name, values in named.items():
        if len(values) != rank:
            raise ShapeError(f"{name} has {len(values)} values for {rank} spatial dimensions")
        if any(value < 1 for value in values):
            raise ShapeError(f"{name} must be positive, not {list(values)}")
    if len(pads) != 2 * rank:
        raise ShapeError(f"pads has {len(pads)} values for {rank} spatial dimensions")
    columns = zip(kernel, strides, dilations, pads[:rank], pads[rank:], strict=True)
    return tuple(Window(*column) for column in columns)


def same_pads(window: Window, size: int, upper: bool) -> tuple[int, int]:
    """Padding before and after such that there are ceil(size / stride) positions (ONNX SAME_*)."""
    count = -(-size // window.stride)
    total = max(0, (count - 1) * window.stride + window.extent - size)
    small, large = total // 2, total - total // 2
    return (small, large) if upper else (large, small)


def reshaped(source: Shape, target: Sequence[int]) -> Shape:
    """`target` with 0 meaning "as in the source" and at most one -1 meaning "what is left"."""
    sizes: list[int] = []
    for index, size in enumerate(target):
        if size == 0 and index >= len(source):
            raise ShapeError(f"shape {list(target)} copies dimension {index} of {dims(source)}")
        sizes.append(source[index] if size == 0 else size)
    if sizes.count(-1) > 1 or min(sizes, default=1) < -1:
        raise ShapeError(f"shape {list(target)} has more than one unknown size")
    if -1 in sizes:
        known = prod(size for size in sizes if size != -1)
        if known == 0 or prod(source) % known:
            raise ShapeError(f"cannot reshape {dims(source)} to {list(target)}")
        sizes[sizes.index(-1)] = prod(source) // known
    if prod(sizes) != prod(source):
        raise ShapeError(f"cannot reshape {dims(source)} to {dims(sizes)}")
    return tuple(sizes)


@record(frozen=True)
class Cut:
    """A slice of one dimension: `count` elements from index `first`, `step` apart."""

    first: int
    count: int
    step: int


def cut(size: int, start: int, end: int, step: int) -> Cut:
    """The slice start:end:step of `size` elements, with numpy's rules for bounds outside."""
    if step == 0:
        raise ShapeError("a slice cannot have step 0")
    indices = range(*slice(start, end, step).indices(size))
    return Cut(indices.start, len(indices), step)


def einsum_shape(equation: str, shapes: Sequence[Shape]) -> Shape:
    """The result of an einsum such as `abc,cd->abd`; every letter is a size, `...` not allowed."""
    terms, arrow, output = equation.replace(" ", "").partition("->")
    letters = terms.split(",")
    if len(letters) != len(shapes):
        raise ShapeError(f"{equation} has {len(letters)} terms for {len(shapes)} operands")
    sizes: dict[str, int] = {}
    for term, shape in zip(letters, shapes, strict=True):
        if len(term) != len(shape) or not term.isalpha():
            raise ShapeError(f"{equation}: term {term} does not fit shape {dims(shape)}")
        for letter, size in zip(term, shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                raise ShapeError(f"{equation}: {letter} is both {sizes[letter]} and {size}")
    joined = "".join(letters)
    if not arrow:
        output = "".join(sorted(letter for letter in sizes if joined.count(letter) == 1))
    if missing := set(output) - sizes.keys():
        raise ShapeError(f"{equation}: {', '.join(sorted(missing))} in no operand")
    return scalar_as_one(sizes[letter] for letter in output)


def reduced(shape: Shape, axes: Sequence[int], keepdims: bool) -> Shape:
    """`shape` with `axes` of size 1, or without them."""
    if keepdims:
        return tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    return scalar_as_one(size for axis, size in enumerate(shape) if axis not in axes)


def flattened(shape: Shape, start: int, end: int) -> Shape:
    """`shape` with the dimensions from `start` to `end`, both included, as one."""
    first, last = axis_of(start, len(shape)), axis_of(end, len(shape))
    if first > last:
        raise ShapeError(f"cannot flatten {dims(shape)} from {first} to {last}")
    return (*shape[:first], prod(shape[first : last + 1]), *shape[last + 1 :])


def scan_states(factors: Shape, summands: Shape, initial: Shape | None, axis: int) -> Shape:
    """The shape of all states of a linear recurrence along an axis.

    Raises:
        ShapeError: the operands differ, have no such axis, or `initial` is not one step of them.
    """
    if factors != summands:
        raise ShapeError(f"factors {dims(factors)} and summands {dims(summands)} differ")
    if not 0 <= axis < len(factors):
        raise ShapeError(f"axis {axis} is out of range for rank {len(factors)}")
    state = (*factors[:axis], 1, *factors[axis + 1 :])
    if initial is not None and initial != state:
        raise ShapeError(f"initial is {dims(initial)}, needed is {dims(state)}")
    return factors
