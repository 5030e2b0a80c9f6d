"""Finding attention: two products with a softmax between them, and what is around those."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from xdsl.dialects.builtin import bf16, f16, f32
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.constants import values_of
from xdsl_tpu.passes.fuse_attention.axes import HEAD, Origin, origins
from xdsl_tpu.passes.graph import sole_producer
from xdsl_tpu.passes.tensors import number_type, shape_of

BATCH, ROW, COLUMN = "batch", "row", "column"
TOKENS = (BATCH, ROW, HEAD, COLUMN)
HEADS_FIRST = (BATCH, HEAD, ROW, COLUMN)


Numbers = tuple[float, ...]
"""A matrix [of, to] over the heads and what is added to each, as the op has them."""


@dataclass(frozen=True)
class Scores:
    """A product q k^T, what its result is multiplied by, and the mask added after that.

    `mask_shape` is the mask's shape next to scores of `lead` matrices; `by_head` a convolution
    that only multiplies the scores of each head by a number.
    """

    product: tpu.MatMulOp
    factor: float = 1.0
    mask: SSAValue | None = None
    mask_factor: float = 1.0
    lead: tuple[int, ...] = ()
    by_head: tpu.Conv2DOp | None = None
    mix: Numbers | None = None


@dataclass(frozen=True)
class Attention:
    """softmax(factor * q k^T + mask) v with its operands traced to where they come from."""

    product: tpu.MatMulOp
    scores: Scores
    batch: int
    heads: int
    rows: int
    keys: int
    depth: int
    width: int
    queries: Origin
    key: Origin
    values: Origin
    mask_shape: tuple[int, int, int, int] | None = None
    mix_shares: Numbers | None = None

    @property
    def scale(self) -> float:
        """What q k^T is multiplied by."""
        return self.scores.factor * self.queries.factor * self.key.factor


def find(product: tpu.MatMulOp) -> Attention | None:
    """The attention whose last op is `product`."""
    if not _plain(product) or bool(product.left_transpose):
        return None
    shares, mix_shares = _unmixed(product.input)
    softmax = _softmax(shares)
    if softmax is None:
        return None
    value, mix = _unmixed(softmax.input)
    beta = softmax.beta.value.data
    if mix is not None and beta != 1:
        return None
    scores = _scores(value, Scores(product, beta, mix=mix))
    if scores is None:
        return None
    found = _operands(product, scores)
    if found is None or mix_shares is mix is None:
        return found
    sizes = {len(m) for m in (mix, mix_shares) if m is not None}
    if sizes != {(found.heads + 1) * found.heads}:
        return None
    return replace(found, mix_shares=mix_shares)


_HEADS_LAST, _HEADS_SECOND = (0, 2, 3, 1), (0, 3, 1, 2)


def _unmixed(value: SSAValue) -> tuple[SSAValue, Numbers | None]:
    """What heads are mixed of, where they are: by a product of all heads of a row and key."""
    behind = sole_producer(value, tpu.PermuteOp)
    if behind is None or ints(behind.order) != _HEADS_SECOND:
        return value, None
    product = sole_producer(behind.input, tpu.MatMulOp)
    if product is None or bool(product.left_transpose) or bool(product.do_relu):
        return value, None
    before = sole_producer(product.input, tpu.PermuteOp)
    weights = values_of(product.right)
    heads = shape_of(value)[1]
    if before is None or ints(before.order) != _HEADS_LAST or weights is None:
        return value, None
    bias = np.zeros(heads) if is_none(product.bias) else values_of(product.bias)
    if bias is None or bias.size != heads or weights.shape != (heads, heads):
        return value, None
    matrix = weights.T if bool(product.right_transpose) else weights
    return before.input, tuple(map(float, (*matrix.reshape(-1), *bias.reshape(-1))))


def _plain(op: tpu.MatMulOp) -> bool:
    """Whether a product has neither bias nor relu nor heads in odd places."""
    flags = (op.hdim_is_batch, op.output_transpose, op.do_relu)
    return not any(bool(f) for f in flags) and bool(op.keep_dims) and is_none(op.bias)


def _softmax(value: SSAValue) -> tpu.SoftmaxOp | None:
    op = sole_producer(_unshaped(value), tpu.SoftmaxOp)
    if op is None or bool(op.log.value.data):
        return None
    rank = len(shape_of(op.output))
    return op if op.axis.value.data % rank == rank - 1 else None


def _unshaped(value: SSAValue) -> SSAValue:
    """What a Reshape of whole matrices reshapes."""
    while (op := sole_producer(value, tpu.ReshapeOp)) is not None:
        before, after = shape_of(op.input), shape_of(op.output)
        if before[-2:] != after[-2:]:
            break
        value = op.input
    return value


def _scores(value: SSAValue, found: Scores) -> Scores | None:
    """Back from the operand of the softmax to the product."""
    value = _unshaped(value)
    if not value.has_one_use():
        return None
    match value.owner:
        case tpu.MulConstOp() as op if not op.do_relu.value.data:
            factor = op.const_val.value.data * found.factor
            return _scores(op.input, replace(found, factor=factor))
        case tpu.AddOp() as op if not op.do_relu.value.data and found.mask is None:
            return _masked(op, found)
        case tpu.Conv2DOp() as op if _scales_heads(op) and found.by_head is None:
            return _scores(op.input, replace(found, by_head=op))
        case tpu.MatMulOp() as op if _plain(op) and not bool(op.left_transpose):
            return replace(found, product=op)
        case _:
            return None


def _masked(op: tpu.AddOp, found: Scores) -> Scores | None:
    shape = shape_of(op.output)
    if len(op.inputs) != 2 or found.by_head is not None:
        return None
    for value, mask in (tuple(op.inputs), tuple(op.inputs)[::-1]):
        if shape_of(value) != shape:
            continue
        masked = replace(found, mask=mask, mask_factor=found.factor, lead=shape[:-2])
        if (scores := _scores(value, masked)) is not None:
            return scores
    return None


def _scales_heads(op: tpu.Conv2DOp) -> bool:
    """Whether a convolution multiplies each channel by a number."""
    channels = shape_of(op.output)[1]
    filters = shape_of(op.filter)
    if len(filters) != 4 or filters != (channels, 1, 1, 1) or op.do_relu.value.data:
        return False
    if shape_of(op.input) != shape_of(op.output):
        return False
    if is_none(op.bias):
        return True
    bias = values_of(op.bias)
    return bias is not None and not np.any(bias)


def _operands(product: tpu.MatMulOp, scores: Scores) -> Attention | None:
    inner = scores.product
    q, k, v = inner.input, inner.right, product.right
    kinds = {number_type(value) for value in (q, k, v, product.output)}
    if len(kinds) != 1 or not kinds <= {f16, bf16, f32}:
        return None
    shapes = [shape_of(value) for value in (q, k, v)]
    lead = shapes[0][:-2]
    if any(len(shape) < 3 or shape[:-2] != lead for shape in shapes):
        return None
    rows, depth = shapes[0][-2:]
    keys = shape_of(inner.output)[-1]
    width = shape_of(product.output)[-1]
    turned = ((ROW, keys), (COLUMN, depth)), ((COLUMN, depth), (ROW, keys))
    for_k = turned[0] if bool(inner.right_transpose) else turned[1]
    turned_v = bool(product.right_transpose)
    for_v = ((COLUMN, width), (ROW, keys)) if turned_v else ((ROW, keys), (COLUMN, width))
    for batch, heads in _splits(q, lead, rows, depth):
        axes = ((BATCH, batch), (HEAD, heads))
        traced = [
            _nearest(value, (*axes, *matrix))
            for value, matrix in ((q, ((ROW, rows), (COLUMN, depth))), (k, for_k), (v, for_v))
        ]
        if traced[0].shared != 1 or traced[1].shared != traced[2].shared:
            continue
        found = Attention(
            product, scores, batch, heads, rows, keys, depth, width, traced[0], traced[1], traced[2]
        )
        shape = _mask_shape(found)
        if scores.mask is None:
            return found
        if shape is not None:
            return replace(found, mask_shape=shape)
    return None


def _splits(q: SSAValue, lead: tuple[int, ...], rows: int, depth: int) -> Iterator[tuple[int, int]]:
    """Batch and heads: as q has them, or as what it was made from."""
    count = int(np.prod(lead))
    if len(lead) > 1:
        yield count // lead[-1], lead[-1]
        return
    axes = ((HEAD, count), (ROW, rows), (COLUMN, depth))
    for origin in origins(q, axes):
        heads = [atom for atom in origin.atoms if atom.axis == HEAD]
        if len(heads) == 2 and [a.axis for a in origin.atoms][:2] == [HEAD, ROW]:
            yield heads[0].size, heads[1].size
            return
        if len(heads) == 1 and [a.axis for a in origin.atoms][:2] == [ROW, HEAD]:
            yield 1, count
            return
    yield 1, count


def _nearest(value: SSAValue, axes: tuple[tuple[str, int], ...]) -> Origin:
    """Where the operand lies as kernels read it; else where it was last in some order."""
    every = list(origins(value, axes))
    most = max(origin.shared for origin in every)
    several = [origin for origin in every if origin.shared == most]
    for wanted in (TOKENS, HEADS_FIRST):
        for origin in several:
            if origin.order() == _without_ones(origin, wanted):
                return origin
    return several[0]


def _without_ones(origin: Origin, wanted: tuple[str, ...]) -> tuple[str, ...]:
    present = {atom.axis for atom in origin.atoms}
    return tuple(axis for axis in wanted if axis in present)


def head_major(origin: Origin) -> bool | None:
    """Whether heads lie before rows; None when an operand lies as no kernel reads it."""
    for flag, wanted in ((False, TOKENS), (True, HEADS_FIRST)):
        if origin.order() == _without_ones(origin, wanted):
            return flag
    return None


def _mask_shape(found: Attention) -> tuple[int, int, int, int] | None:
    """The mask as one over batch, heads, rows and keys."""
    scores = found.scores
    if scores.mask is None:
        return None
    if number_type(scores.mask) != number_type(found.product.output):
        return None
    shape = shape_of(scores.mask)
    lead = scores.lead
    shape = (1,) * (len(lead) + 2 - len(shape)) + shape
    rows, keys = shape[-2:]
    if keys != found.keys or rows not in (1, found.rows):
        return None
    own = shape[:-2]
    if all(size == 1 for size in own):
        return 1, 1, rows, keys
    if own == lead:
        return found.batch, found.heads, rows, keys
    if len(lead) > 1 and lead[-1] == found.heads:
        heads = own[-1]
        if all(size == 1 for size in own[:-1]):
            return 1, heads, rows, keys
        if own[:-1] == lead[:-1]:
            return found.batch, heads, rows, keys
    return None
