"""Rotary position embeddings that are spelled out: one op."""

from typing import NamedTuple, TypeAlias

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.canonicalize.common import has_relu, unit_coefficients
from xdsl_tpu.passes.canonicalize.slice import is_static
from xdsl_tpu.passes.constants import Floats, make_weight, values_of
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    producer,
    sole_producer,
    sole_user,
    tensor_like,
)
from xdsl_tpu.passes.tensors import shape_of

_SWAP = (0, 2, 1, 3)
"""Heads in front of tokens, or behind them."""

HALVES, PAIRS = "contiguous_halves", "interleaved_pairs"
"""Which elements of a row are rotated together: those of its halves, or neighbours."""


_Angles: TypeAlias = Floats | SSAValue
"""Cosines or sines: known, or computed of positions that a run is given. Of rank 4."""


class _Rotation(NamedTuple):
    """x * cosine + turned(x) * sine, and which elements of a row are pairs."""

    x: SSAValue
    cosine: _Angles
    sine: _Angles
    mode: str


class _Place(NamedTuple):
    """The op whose result is rotated, what is rotated, and the first token that is."""

    result: Operation
    whole: SSAValue
    first: int


class RotaryEmbedding(RewritePattern):
    """Add(Mul(x, cosine), Mul(turned(x), sine)) -> Permute(Rope(Permute(x), sine, cosine)).

        Mul     1x3x256x64 by 1x1x256x64                Permute  1x3x256x64 -> 1x256x3x64
        Concat  1x3x256x32x1 (-x[1::2]), (x[0::2])      Rope     1x256x3x64 {interleaved_pairs}
        Mul     1x3x256x64 by 1x1x256x64           ->   Permute  1x3x256x64
        Add     1x3x256x64

    Turned is (-second half, first half) of a row, or (-odd, even) of each pair, taken of the row or
    of one with an axis for them. Sine and cosine are
    weights, or computed: a step of a decoder is given its positions. Tokens in front that are left
    as they are, and joined with the others behind, turn by an angle of 0, if all are known.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.AddOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or has_relu(op) or not unit_coefficients(op):
            return
        if not has_shapes(*op.inputs, op.output) or len(shape_of(op.output)) != 4:
            return
        found = _rotation(*op.inputs) or _rotation(*reversed(op.inputs))
        if found is None:
            return
        axis = _token_axis(found)
        if axis is None:
            return
        place = _Place(op, found.x, 0)
        if not isinstance(found.cosine, SSAValue) and not isinstance(found.sine, SSAValue):
            place = _with_first_tokens(op, found.x, axis)
        rewriter.replace(place.result, _rotated_by(op, found, place, axis))


class RotatedParts(RewritePattern):
    """Concat(x1 * cosine - x2 * sine, x2 * cosine + x1 * sine) -> Permute(Rope(Permute(x))).

        Slice   1x8x196x64 -> 1x8x196x32 (first half)          Permute  1x8x196x64 -> 1x196x8x64
        Slice   1x8x196x64 -> 1x8x196x32 (second half)         Rope     1x196x8x64
        Mul     by 1x1x196x32  (4 times)                 ->    Permute  1x8x196x64
        Sub, Add               1x8x196x32
        Concat                 1x8x196x64

    The parts are the halves of a row, or the even and the odd elements: these are put together
    along an axis of their own, behind which a Reshape stands. Angles are as `RotaryEmbedding` has
    them, each twice.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConcatOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or has_relu(op) or not has_shapes(op.output):
            return
        root, mode = _joined_rows(op)
        if root is None:
            return
        found = _rotated(op, shape_of(root.results[0]), mode)
        if found is None:
            return
        axis = _token_axis(found)
        if axis is None:
            return
        rewriter.replace(root, _rotated_by(root, found, _Place(root, found.x, 0), axis))


def _joined_rows(op: top.ConcatOp) -> tuple[Operation | None, str]:
    """The op that gives rows of two parts in rank 4, and how the parts lie in them."""
    rank = len(shape_of(op.output))
    axis = op.axis.value.data % rank
    if (rank, axis) == (4, 3):
        return op, HALVES
    flat = sole_user(op.output, top.ReshapeOp)
    if rank != 5 or axis < 3 or flat is None or not has_shapes(flat.output):
        return None, HALVES
    *outer, first, second = shape_of(op.output)
    if shape_of(flat.output) != (*outer, first * second) or shape_of(op.output)[axis] != 2:
        return None, HALVES
    return flat, PAIRS if axis == 4 else HALVES


def _rotated(joined: top.ConcatOp, shape: tuple[int, ...], mode: str) -> _Rotation | None:
    """What is rotated to rows of a shape, by known angles."""
    first, second = map(_unshaped, joined.inputs)
    less, more = sole_producer(first, top.SubOp), sole_producer(second, top.AddOp)
    if less is None or more is None or has_relu(less) or has_relu(more):
        return None
    if not unit_coefficients(less) or not unit_coefficients(more):
        return None
    if {len(less.inputs), len(more.inputs)} != {2} or bool(less.is_reverse.value.data):
        return None
    part = (*shape[:-1], shape[-1] // 2)
    if not has_shapes(less.output, more.output) or shape[-1] % 2:
        return None
    if shape_of(less.output) != part or shape_of(more.output) != part:
        return None
    for x1, cosine in _products(less.inputs[0]):
        x = _whole_of(x1, shape)
        if x is None or isinstance(cosine, SSAValue) or not _is_half(x1, x, 0, mode):
            continue
        for x2, sine in _products(less.inputs[1]):
            if isinstance(sine, SSAValue) or not _is_half(x2, x, 1, mode):
                continue
            for one, other in (more.inputs, tuple(reversed(more.inputs))):
                if _is_product(one, x, 1, cosine, mode) and _is_product(other, x, 0, sine, mode):
                    return _Rotation(x, _twice(cosine, mode), _twice(sine, mode), mode)
    return None


def _is_product(value: SSAValue, x: SSAValue, half: int, angles: Floats, mode: str) -> bool:
    """Whether a value is one half of rows times angles."""
    return any(
        not isinstance(factor, SSAValue)
        and np.array_equal(factor, angles)
        and _is_half(part, x, half, mode)
        for part, factor in _products(value)
    )


def _is_half(value: SSAValue, x: SSAValue, half: int, mode: str) -> bool:
    *outer, size = shape_of(x)
    size //= 2
    if shape_of(value) != (*outer, size):
        return False
    return _is_part(value, x, *((half * size, 1) if mode == HALVES else (half, 2)))


def _whole_of(part: SSAValue, shape: tuple[int, ...]) -> SSAValue | None:
    """The rows of a shape that a part was cut from."""
    cut = producer(_unshaped(part), top.SliceOp)
    value = None if cut is None else cut.input
    while value is not None and has_shapes(value) and shape_of(value) != shape:
        owner = value.owner
        shaped = isinstance(owner, top.UnsqueezeOp | top.SqueezeOp | top.ReshapeOp)
        value = owner.operands[0] if shaped else None
    return value if value is not None and has_shapes(value) else None


def _twice(angles: Floats, mode: str) -> Floats:
    """Angles of pairs, for both elements of each."""
    if mode == PAIRS:
        return np.repeat(angles, 2, axis=-1)
    return np.concatenate([angles, angles], axis=-1)


def _rotated_by(op: Operation, found: _Rotation, place: _Place, axis: int) -> list[Operation]:
    """The tables of angles, named after an op, and what rotates by them."""
    sine = _table(op, "_sine", found.sine, place, 0.0)
    cosine = _table(op, "_cosine", found.cosine, place, 1.0)
    return [sine, cosine, *_rope(place, axis, sine, cosine, found.mode)]


def _table(
    op: Operation, label: str, angles: _Angles, place: _Place, still: float
) -> top.WeightOp | top.ReshapeOp:
    """One row of angles for each token, as Rope takes them: [batch, tokens, 1, size]."""
    name = derived_name(op, label)
    if isinstance(angles, SSAValue):
        batch, *outer, size = shape_of(angles)
        kind = tensor_like(angles, (batch, max(outer), 1, size))
        return top.ReshapeOp.make(name, (angles,), result_types=[kind])
    table = angles.reshape(-1, angles.shape[-1])
    rows = np.concatenate([np.full((place.first, table.shape[1]), still), table])
    batch = shape_of(place.whole)[0]
    return make_weight(op, name, np.tile(rows[None, :, None], (batch, 1, 1, 1)))


def _rope(
    place: _Place, axis: int, sine: Operation, cosine: Operation, mode: str
) -> list[Operation]:
    result = place.result
    x, ops = place.whole, list[Operation]()
    name = result.location
    if axis == 2:
        ops.append(_swapped(derived_name(result, "_r_tokens"), x))
        x = ops[0].results[0]
    rope = top.RopeOp.make(
        name if axis == 1 else derived_name(result, "_r_rope"),
        (x, sine.results[0], cosine.results[0]),
        result_types=[x.type],
        rope_mode=mode,
    )
    ops.append(rope)
    if axis == 2:
        back = _swapped("", rope.output)
        back.location = name
        ops.append(back)
    return ops


def _swapped(name: str, value: SSAValue) -> top.PermuteOp:
    shape = shape_of(value)
    kind = tensor_like(value, [shape[axis] for axis in _SWAP])
    return top.PermuteOp.make(name, (value,), result_types=[kind], order=_SWAP)


def _rotation(straight: SSAValue, turned: SSAValue) -> _Rotation | None:
    left, right = _products(straight), _products(turned)
    for x, cosine in left:
        for other, sine in right:
            mode = _mode(other, x) if _shape(sine) == _shape(cosine) else None
            if mode is not None:
                return _Rotation(x, cosine, sine, mode)
    return None


def _products(value: SSAValue) -> list[tuple[SSAValue, _Angles]]:
    """How a value may be read as one that is turned, and a factor of its rank."""
    product = sole_producer(value, top.MulOp)
    if product is None or len(product.inputs) != 2 or has_relu(product):
        return []
    if not has_shapes(*product.inputs):
        return []
    pairs = (product.inputs, tuple(reversed(product.inputs)))
    found = ((x, _angles(factor)) for x, factor in pairs if len(shape_of(x)) == 4)
    return [(x, angles) for x, angles in found if angles is not None]


def _angles(factor: SSAValue) -> _Angles | None:
    if not isinstance(factor.owner, top.WeightOp):
        return factor if len(shape_of(factor)) == 4 else None
    known = values_of(factor)
    if known is None or known.ndim > 4:
        return None
    return known.reshape((1,) * (4 - known.ndim) + known.shape)


def _shape(angles: _Angles) -> tuple[int, ...]:
    return shape_of(angles) if isinstance(angles, SSAValue) else angles.shape


def _token_axis(found: _Rotation) -> int | None:
    """1 or 2, where tokens are: the axis that angles depend on; the other one is of heads."""
    shape, angles = shape_of(found.x), _shape(found.cosine)
    if angles[0] != (shape[0] if isinstance(found.cosine, SSAValue) else 1):
        return None
    if angles[1:] == (shape[1], 1, shape[3]):
        return 1
    return 2 if angles[1:] == (1, *shape[2:]) else None


def _mode(turned: SSAValue, x: SSAValue) -> str | None:
    """How a value is x turned; None when it is not."""
    size = shape_of(x)[-1]
    if size % 2:
        return None
    joined = producer(turned, top.ConcatOp)
    if joined is not None and joined.axis.value.data % 4 == 3 and len(joined.inputs) == 2:
        halves = (size // 2, 1), (0, 1)
        return HALVES if _are_parts(joined, x, halves) else None
    flat = producer(turned, top.ReshapeOp)
    joined = None if flat is None else producer(flat.input, top.ConcatOp)
    if joined is None or len(joined.inputs) != 2 or not has_shapes(joined.output):
        return None
    *outer, first, second = shape_of(joined.output)
    if tuple(outer) != shape_of(x)[:-1] or {first, second} != {size // 2, 2}:
        return None
    axis = joined.axis.value.data % 5
    if (second, axis) == (2, 4) and _are_parts(joined, x, ((1, 2), (0, 2))):
        return PAIRS
    halves = (size // 2, 1), (0, 1)
    if (first, axis) == (2, 3) and _are_parts(joined, x, halves):
        return HALVES
    return None


def _are_parts(
    joined: top.ConcatOp, x: SSAValue, parts: tuple[tuple[int, int], tuple[int, int]]
) -> bool:
    """Whether operands are -x and x along the last axis from a first element on by a step."""
    negative = producer(_unshaped(joined.inputs[0]), top.MulConstOp)
    if negative is None or negative.const_val.value.data != -1 or has_relu(negative):
        return False
    values = negative.input, joined.inputs[1]
    return all(_is_part(value, x, *part) for value, part in zip(values, parts, strict=True))


def _unshaped(value: SSAValue) -> SSAValue:
    """A value whose elements are the same ones in the same order, before all changes of shape."""
    while isinstance(value.owner, top.UnsqueezeOp | top.SqueezeOp | top.ReshapeOp):
        value = value.owner.operands[0]
    return value


def _is_part(value: SSAValue, x: SSAValue, first: int, step: int) -> bool:
    part = producer(_unshaped(value), top.SliceOp)
    if part is None or not is_static(part) or not has_shapes(part.input):
        return False
    if _unshaped(part.input) is not _unshaped(x):
        return False
    size, shape, cuts = shape_of(x)[-1], shape_of(part.input), part.cuts()
    split = 1 if shape[-1] == size else 2
    if shape[:-split] != shape_of(x)[:-1]:
        return False
    if any(c.count != n for c, n in zip(cuts[:-split], shape[:-split], strict=True)):
        return False
    cut = cuts[-1]
    if split == 1:
        return (cut.first, cut.count, cut.step) == (first, size // 2, step)
    if shape[-2:] == (size // 2, 2) and step == 2:  # a row of pairs
        return cuts[-2].count == size // 2 and (cut.first, cut.count) == (first, 1)
    if shape[-2:] == (2, size // 2) and step == 1:  # a row of halves
        half = cuts[-2]
        return cut.count == size // 2 and (half.first * cut.count, half.count) == (first, 1)
    return False


def _with_first_tokens(op: top.AddOp, x: SSAValue, axis: int) -> _Place:
    """The tokens in front as well, when they go past the rotation and are joined behind it."""
    alone = _Place(op, x, 0)
    use, rest = op.output.get_unique_use(), producer(x, top.SliceOp)
    joined = None if use is None else use.operation
    if not isinstance(joined, top.ConcatOp) or rest is None or not is_static(rest):
        return alone
    if joined.axis.value.data % 4 != axis or len(joined.inputs) != 2 or has_relu(joined):
        return alone
    first = producer(joined.inputs[0], top.SliceOp)
    if first is None or not is_static(first) or first.input is not rest.input:
        return alone
    shape = shape_of(rest.input)
    start = shape_of(first.output)[axis]
    wanted = [(0, start), (start, shape[axis] - start)]
    for part, (begin, count) in zip((first, rest), wanted, strict=True):
        for index, cut in enumerate(part.cuts()):
            expected = (begin, count, 1) if index == axis else (0, shape[index], 1)
            if (cut.first, cut.count, cut.step) != expected:
                return alone
    return _Place(joined, rest.input, start)
