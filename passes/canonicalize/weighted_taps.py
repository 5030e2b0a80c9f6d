"""Patches of images that are multiplied element by element and summed."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.canonicalize.common import behind_views, has_relu, reshape
from xdsl_tpu.passes.canonicalize.patches import Patches, leading, patches_of
from xdsl_tpu.passes.canonicalize.split import slice_along
from xdsl_tpu.passes.constants import Floats, linear_of, make_weight
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    none_for,
    sole_producer,
    tensor_like,
)
from xdsl_tpu.passes.tensors import is_weight, shape_of

_Places = npt.NDArray[np.int64]


class WeightedTaps(RewritePattern):
    """Sums of patches times factors are sums of shifted images times factors.

        Gather   rows     1x64x38x38 -> 1x64x7x32x38      Slice  1x64x38x38 -> 1x64x32x32
        Gather   columns  1x64x7x32x7x32                  Conv   1x196x32x32 -> 1x64x32x32
        Permute           1x64x7x7x32x32           ->     Mul    1x64x32x32
        Reshape           1x4x16x49x32x32                 .. the same for 48 more taps
        Mul      by       1x4x1x49x32x32                  Add    1x64x32x32, 48 times
        Reduce   sum      1x4x16x32x32

    Patches hold each pixel once for every tap, with rows of their own. A shifted image is read in
    the lanes of its channels, and a factor that several channels share is written out for each by a
    convolution of zeros and ones (or by that which makes the factors, with some of its filters), as
    is a pixel that several factors share. The factors of all taps at once could be more than local
    memory holds. Sums over channels, as of queries and the keys around them, leave taps apart:
    products are put together, and a convolution sums them. Nothing changes where these filters
    would be larger than the patches. (Involution, arXiv 2103.06255; attention in a neighbourhood,
    2204.07143; CARAFE, 1905.02188; RAFT's convex upsampling, 2003.12039.)
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReduceOp, rewriter: PatternRewriter) -> None:
        found = _sum_of(op)
        if found is None:
            return
        builder = _Builder(op, none_for(op, rewriter), found.patches.pixels)
        total = found.build(builder)
        builder.ops.append(reshape(op.location, total, shape_of(op.output)))
        rewriter.replace(op, builder.ops)


class _Builder:
    """Ops that replace `root`, in order."""

    def __init__(self, root: Operation, none: SSAValue, pixels: tuple[int, int]) -> None:
        self.root, self.none, self.pixels = root, none, pixels
        self.ops: list[Operation] = []

    def add(self, op: Operation) -> SSAValue:
        self.ops.append(op)
        return op.results[0]

    def name(self) -> str:
        return derived_name(self.root, f"_r_taps{len(self.ops)}")

    def images(self, value: SSAValue, images: int) -> SSAValue:
        """The value as N, C, rows, columns."""
        shape = (images, prod(shape_of(value)) // images // prod(self.pixels), *self.pixels)
        value = behind_views(value)
        return value if shape_of(value) == shape else self.add(reshape(self.name(), value, shape))

    def picked(self, value: SSAValue, matrix: Floats) -> SSAValue:
        """matrix (results, channels) times each pixel of the value."""
        if np.array_equal(matrix, np.eye(shape_of(value)[1], dtype=np.float32)):
            return value
        return self._pointwise(value, matrix[:, :, None, None], None)

    def some(self, value: SSAValue, which: _Places) -> SSAValue:
        """Channels of the value, in any order and number.

        What makes all of them from fewer makes these instead, if it is a convolution of single
        pixels.
        """
        channels, before = shape_of(value)[1], _pointwise_before(value)
        if before is not None and before.sources <= channels:
            bias = None if before.bias is None else before.bias[which]
            return self._pointwise(before.input, before.kernels[which], bias)
        return self.picked(value, _one_of(which, channels))

    def _pointwise(self, value: SSAValue, kernels: Floats, bias: Floats | None) -> SSAValue:
        name = self.name()
        images, _, *pixels = shape_of(value)
        given = {"filter": kernels} if bias is None else {"filter": kernels, "bias": bias}
        weights = [make_weight(self.root, f"{name}_{role}", some) for role, some in given.items()]
        self.ops += weights
        conv = top.ConvOp.make(
            name,
            (value, *weights, *[self.none] * (2 - len(weights))),
            result_types=[tensor_like(value, (images, len(kernels), *pixels))],
            kernel_shape=(1, 1),
            strides=(1, 1),
            pads=(0, 0, 0, 0),
        )
        return self.add(conv)

    def channels(self, value: SSAValue, start: int, count: int) -> SSAValue:
        """Some channels of a value."""
        if (start, count) == (0, shape_of(value)[1]):
            return value
        return self.add(slice_along(self.name(), value, 1, (start, start + count), self.none))

    def pair(self, kind: type[top.AddOp | top.MulOp], a: SSAValue, b: SSAValue) -> SSAValue:
        return self.add(kind.make(self.name(), (a, b), result_types=[a.type]))

    def total(self, made: Callable[[int], SSAValue], which: range) -> SSAValue:
        """The sum of what is made, in halves: one is rounded as often as there are halves of
        halves, and few of them live at a time."""
        if len(which) == 1:
            return made(which[0])
        half = len(which) // 2
        first = self.total(made, which[:half])
        return self.pair(top.AddOp, first, self.total(made, which[half:]))


@dataclass(frozen=True, slots=True)
class _Pointwise:
    """A convolution of single pixels, without relu: kernels (results, sources, 1, 1)."""

    input: SSAValue
    kernels: Floats
    bias: Floats | None

    @property
    def sources(self) -> int:
        return self.kernels.shape[1]


def _pointwise_before(value: SSAValue) -> _Pointwise | None:
    """What makes a value, if it is such a convolution."""
    op = value.owner
    if not isinstance(op, top.ConvOp) or has_relu(op) or op.group.value.data != 1:
        return None
    is_plain = not any(ints(op.pads)) and set(ints(op.strides)) == {1}
    known = linear_of(op.filter, op.bias)
    if not is_plain or known is None or set(known[0].shape[2:]) != {1}:
        return None
    return _Pointwise(op.input, *known)


@dataclass(frozen=True, slots=True)
class _Sum:
    """result[to[t, i]] += factors[of[t, i]] * tap t of channel from_[i], for all t and i."""

    patches: Patches
    factors: SSAValue
    from_: _Places
    of: _Places
    to: _Places

    def build(self, builder: _Builder) -> SSAValue:
        """The result as N, C, rows, columns."""
        patches, width = self.patches, len(self.from_)
        factors = builder.images(self.factors, patches.images)
        one, each = _run(self.of), _is_each(self.of)
        if each:
            factors = builder.some(factors, self.of[0])
        image = builder.picked(patches.source, _one_of(self.from_, patches.channels))
        if (blocks := patches.in_blocks(builder.name(), image)) is not None:
            image = builder.add(blocks)

        def product(tap: int) -> SSAValue:
            shifted = builder.add(patches.tap(builder.name(), image, tap, builder.none))
            if each:
                factor = factors
            elif one is None:
                factor = builder.some(factors, self.of[tap])
            else:
                count = int(one.max()) + 1
                factor = builder.channels(factors, tap * count, count)
                if count > 1:
                    factor = builder.picked(factor, _one_of(one, count))
            return builder.pair(top.MulOp, shifted, factor)

        if _is_each(self.to):
            total, places = builder.total(product, range(patches.taps)), self.to[0]
        else:
            products = [product(tap) for tap in range(patches.taps)]
            shape = (patches.images, patches.taps * width, *builder.pixels)
            kind = tensor_like(products[0], shape)
            concat = top.ConcatOp.make(builder.name(), products, result_types=[kind], axis=1)
            total, places = builder.add(concat), self.to.reshape(-1)
        return builder.picked(total, _one_of(places, int(places.max()) + 1).T)

    def filters(self) -> int:
        """Elements of the filters of convolutions that pick and sum."""
        taps, width = self.of.shape
        factors, results = int(self.of.max()) + 1, int(self.to.max()) + 1
        before = _pointwise_before(behind_views(self.factors))
        if _run(self.of) is not None:
            picks = width * factors // taps
        elif before is not None:
            picks = taps * width * min(factors, before.sources)
        else:
            picks = (1 if _is_each(self.of) else taps) * width * factors
        sums = (1 if _is_each(self.to) else taps) * width * results
        return picks + sums + width * self.patches.channels


def _run(places: _Places) -> _Places | None:
    """The places of the first tap, if those of each other follow them in the same order."""
    first = places[0]
    count = int(first.max()) + 1
    steps = count * np.arange(len(places))[:, None]
    return first if len(places) > 1 and np.array_equal(places, first + steps) else None


def _is_each(places: _Places) -> bool:
    """Whether they are the same for every tap."""
    return bool((places == places[:1]).all())


def _one_of(rows: _Places, count: int) -> npt.NDArray[np.float32]:
    """Row by row, one of `count` columns."""
    return (rows[:, None] == np.arange(count)).astype(np.float32)


def _sum_of(op: top.ReduceOp) -> _Sum | None:
    """What a Reduce sums, if it is patches times factors."""
    product = sole_producer(op.input, top.MulOp)
    if product is None or op.mode.data != "ReduceSum" or has_relu(product):
        return None
    if not has_shapes(op.input, op.output, *product.inputs) or len(product.inputs) != 2:
        return None
    for taps, factors in (product.inputs, tuple(reversed(product.inputs))):
        patches = None if is_weight(factors) else patches_of(taps)
        if patches is not None:
            return _placed(op, patches, taps, factors)
    return None


def _placed(op: top.ReduceOp, patches: Patches, taps: SSAValue, factors: SSAValue) -> _Sum | None:
    """Where patches, factors and results lie, if rows and columns are the last of each."""
    whole = shape_of(op.input)
    lead = leading(whole, patches.pixels)
    if lead is None:
        return None
    shapes = [(1,) * (len(whole) - len(shape)) + shape for shape in map(shape_of, (taps, factors))]
    axes = {axis % len(whole) for axis in ints(op.axes)}
    count = len(lead)
    if any(shape[count:] != whole[count:] for shape in shapes) or max(axes) >= count:
        return None
    inputs = [shape[:count] for shape in shapes]
    results = tuple(1 if axis in axes else size for axis, size in enumerate(lead))
    images = patches.images
    if images > 1 and (lead[0] % images or any(some[0] != lead[0] for some in (*inputs, results))):
        return None
    one, *parts = ((some[0] // images, *some[1:]) for some in (lead, *inputs, results))
    elements, of, to = (_places(part, one) for part in parts)
    order = np.argsort(elements % patches.taps, kind="stable").reshape(patches.taps, -1)
    from_ = elements[order] // patches.taps
    if not _is_each(from_):
        return None
    found = _Sum(patches, factors, from_[0], of[order], to[order])
    return None if found.filters() > len(elements) * prod(patches.pixels) else found


def _places(part: tuple[int, ...], whole: tuple[int, ...]) -> _Places:
    """Which of the elements of `part` each of `whole` is, where it is stretched to that."""
    return np.broadcast_to(np.arange(prod(part)).reshape(part), whole).reshape(-1)
