"""Images between convolutions whose channels come last: they stay in the order of convolutions."""

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.top.abstract import UnaryOp
from xdsl_tpu.passes.canonicalize.common import has_relu, unit_coefficients
from xdsl_tpu.passes.constants import is_f32_weight, make_weight, values_of
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    is_like,
    producer,
    rebuilt,
    sole_producer,
    tensor_like,
    users,
)
from xdsl_tpu.passes.tensors import shape_of

_LAST = (0, 2, 3, 1)
"""Channels behind rows and columns of pixels."""

_FIRST = (0, 3, 1, 2)
"""And back."""


class PermuteBehindImageOp(RewritePattern):
    """op(Permute(x, [0, 2, 3, 1])) of an image from a convolution -> Permute(op(x), [0, 2, 3, 1]).

    The op is a function of each number, a Pad, or the sum with a constant of each channel, which
    becomes the convolution's bias. Nothing else reads what is between. Networks that were written
    for channels that come last have such a Permute behind each convolution, and one back before
    the next, which then meet.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.PermuteOp, rewriter: PatternRewriter) -> None:
        if ints(op.order) != _LAST or not has_shapes(op.input, op.output):
            return
        readers = users(op.output)
        if len(readers) != 1 or not op.input.has_one_use() or not _is_image(op.input):
            return
        (reader,) = readers
        if isinstance(reader, UnaryOp):
            moved = [self._moved(reader, (op.input,), op.input)]
        elif isinstance(reader, top.PadOp):
            name = name_loc(derived_name(reader, "_of_image"))
            moved = [_padded(reader, op.input, name)]
        elif isinstance(reader, top.AddOp):
            moved = _with_bias(reader, op)
        else:
            return
        if not moved:
            return
        permute = rebuilt(
            op,
            operands=(moved[-1].results[0],),
            result_types=reader.result_types,
            location=reader.location,
        )
        rewriter.replace(reader, [*moved, permute])

    @staticmethod
    def _moved(reader: UnaryOp, operands: tuple[SSAValue, ...], like: SSAValue) -> Operation:
        name = name_loc(derived_name(reader, "_of_image"))
        return rebuilt(reader, operands=operands, result_types=[like.type], location=name)


class PermuteBeforeImagePad(RewritePattern):
    """Permute(Pad(x), [0, 3, 1, 2]) that a convolution reads -> Pad(Permute(x, [0, 3, 1, 2])).

    Nothing else reads the Pad, which the convolution then takes in.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.PermuteOp, rewriter: PatternRewriter) -> None:
        pad = sole_producer(op.input, top.PadOp)
        if pad is None or ints(op.order) != _FIRST or not has_shapes(pad.input, op.output):
            return
        if not all(isinstance(user, top.ConvOp) for user in users(op.output)):
            return
        shape = shape_of(pad.input)
        permute = rebuilt(
            op,
            operands=(pad.input,),
            result_types=[tensor_like(op.output, (shape[axis] for axis in _FIRST))],
            location=name_loc(derived_name(op, "_unpadded")),
        )
        padded = _padded(pad, permute.output, op.location)
        rewriter.replace(op, [permute, padded])


class SumBeforePermute(RewritePattern):
    """Add(Permute(x), Permute(y)), both [0, 2, 3, 1] -> Permute(Add(x, y), [0, 2, 3, 1]).

    Other sums and Permutes back may read the Permutes: the former go the same way, and the latter
    read x and y.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.AddOp, rewriter: PatternRewriter) -> None:
        before = [producer(value, top.PermuteOp) for value in op.inputs]
        images = [one for one in before if one is not None and ints(one.order) == _LAST]
        if len(images) != len(op.inputs) or not has_shapes(op.output):
            return
        if not all(is_like(one.output, op.output) for one in images):
            return
        readers = [user for one in images for user in users(one.output)]
        if not all(isinstance(reader, top.AddOp) or _is_back(reader) for reader in readers):
            return
        if not all(_is_image(one.input) for one in images):
            return
        like = images[0]
        total = rebuilt(
            op,
            operands=[one.input for one in images],
            result_types=[tensor_like(op.output, shape_of(like.input))],
            location=name_loc(derived_name(op, "_of_image")),
        )
        permute = rebuilt(
            like, operands=(total.output,), result_types=op.result_types, location=op.location
        )
        rewriter.replace(op, [total, permute])


def _is_back(op: Operation) -> bool:
    """Whether an op brings channels to the front."""
    return isinstance(op, top.PermuteOp) and ints(op.order) == _FIRST


def _is_image(value: SSAValue) -> bool:
    """Whether a convolution makes a value, or functions, Pads and sums of what one makes."""
    owner = value.owner
    while isinstance(owner, UnaryOp | top.PadOp | top.AddOp):
        owner = owner.operands[0].owner
    return isinstance(owner, top.ConvOp)


def _padded(reader: top.PadOp, image: SSAValue, location: LocationAttr) -> Operation:
    """The Pad in the order of the image."""
    counts = ints(reader.paddings)
    half = len(counts) // 2
    sides = (counts[:half], counts[half:])
    places = [_LAST.index(axis) for axis in range(half)]
    paddings = [side[place] for side in sides for place in places]
    made = shape_of(reader.output)
    padded = rebuilt(
        reader,
        operands=(image, *reader.operands[1:]),
        result_types=[tensor_like(image, (made[place] for place in places))],
        location=location,
    )
    padded.paddings = I64_ARRAY.encode(paddings)
    return padded


def _with_bias(reader: top.AddOp, permute: top.PermuteOp) -> list[Operation]:
    """The convolution with a constant of each channel as its bias; none where it is none."""
    conv = permute.input.owner
    if not isinstance(conv, top.ConvOp) or not is_none(conv.bias) or has_relu(conv):
        return []
    if len(reader.inputs) != 2 or not unit_coefficients(reader):
        return []
    bias = next(value for value in reader.inputs if value is not permute.output)
    channels = shape_of(permute.output)[-1]
    values = values_of(bias) if is_f32_weight(bias) else None
    if values is None or values.shape[-1:] != (channels,) or values.size != channels:
        return []
    weight = make_weight(conv, derived_name(bias, "_of_channels"), values.reshape(-1))
    biased = rebuilt(
        conv,
        operands=(conv.input, conv.filter, weight),
        location=name_loc(derived_name(reader, "_of_image")),
    )
    biased.do_relu, biased.relu_limit = reader.do_relu, reader.relu_limit
    return [weight, biased]
