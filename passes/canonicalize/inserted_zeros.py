"""Convolutions of images between whose pixels zeros were put: transposed convolutions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.canonicalize.common import has_relu, reshape
from xdsl_tpu.passes.constants import is_known, known_values, make_weight
from xdsl_tpu.passes.graph import derived_name, has_shapes, sole_producer, tensor_like
from xdsl_tpu.passes.tensors import shape_of


class ConvToDeconv(RewritePattern):
    """Conv(Reshape(Pad(Reshape(x))), W) -> Deconv(x, W turned round).

        Reshape  1x64x8x8 -> 1x64x8x1x8x1
        Pad      one zero behind each -> 1x64x8x2x8x2
        Reshape  1x64x16x16                                 ->    Deconv  {strides = [2, 2],
        Conv     32x64x3x3 {pads = [2, 2, 1, 1]}                  pads = [0, 0, 1, 1]}

    So an exporter writes a transposed convolution whose filter is computed. Factors of channels,
    which `FactorsOfFilter` may have put in front of it, are then those of the pixels.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        kernel, pads = ints(op.kernel_shape), ints(op.pads)
        plain = {*ints(op.strides), *ints(op.dilations or ())} <= {1}
        if not plain or any(ints(op.inserts or ())) or not is_known(op.filter):
            return
        factors, value = _factors(op.input)
        image = _image(value)
        if image is None or len(image.strides) != len(kernel):
            return
        cut = [size - 1 - pad for size, pad in zip((*kernel, *kernel), pads, strict=True)]
        if min(cut) < 0:
            return
        axes = tuple(range(2, 2 + len(kernel)))
        turned = make_weight(
            op, derived_name(op.filter, "_r_turned"), np.flip(known_values(op.filter), axes)
        )
        made: list[Operation] = [reshape(derived_name(op, "_r_pixels"), image.pixels, image.shape)]
        for index, factor in enumerate(factors):
            x = made[-1].results[0]
            name, kind = derived_name(op, f"_r_factor{index}"), tensor_like(x, image.shape)
            made.append(top.MulOp.make(name, (x, factor), result_types=[kind]))
        deconv = top.DeconvOp.make(
            op.location,
            (made[-1].results[0], turned.output, op.bias),
            result_types=op.result_types,
            kernel_shape=kernel,
            strides=image.strides,
            pads=cut,
            output_padding=[stride - 1 for stride in image.strides],
            group=op.group,
            do_relu=op.do_relu,
            relu_limit=op.relu_limit,
        )
        rewriter.replace(op, [turned, *made, deconv])


@dataclass(frozen=True)
class _Image:
    """Pixels, the shape in which they are an image, and how far apart they are in the other."""

    pixels: SSAValue
    shape: Sequence[int]
    strides: Sequence[int]


def _factors(value: SSAValue) -> tuple[list[SSAValue], SSAValue]:
    """What the channels of a value are multiplied by, and the value before."""
    factors: list[SSAValue] = []
    while (product := sole_producer(value, top.MulOp)) is not None:
        if has_relu(product) or len(product.inputs) != 2 or not has_shapes(*product.inputs):
            break
        before, factor = product.inputs
        shape, own = shape_of(before), shape_of(factor)
        if shape_of(value) != shape or own != (1, shape[1], *(1 for _ in shape[2:])):
            break
        factors.append(factor)
        value = before
    return factors, value


def _image(value: SSAValue) -> _Image | None:
    """What zeros were put into behind each pixel, along each dimension."""
    whole = sole_producer(value, top.ReshapeOp)
    pad = None if whole is None else sole_producer(whole.input, top.PadOp)
    if pad is None or not has_shapes(value, pad.input, pad.output):
        return None
    if pad.mode.data != "constant" or pad.val.value.data != 0:
        return None
    (n, c, *apart), wide = shape_of(pad.input), shape_of(pad.output)
    sizes, units, strides = apart[::2], apart[1::2], wide[3::2]
    if len(sizes) != len(units) or {*units} != {1} or wide != _interleaved((n, c), sizes, strides):
        return None
    if any(ints(pad.paddings)[: len(wide)]):
        return None
    shape = (n, c, *(size * step for size, step in zip(sizes, strides, strict=True)))
    return _Image(pad.input, (n, c, *sizes), strides) if shape_of(value) == shape else None


def _interleaved(
    outer: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
) -> tuple[int, ...]:
    pairs = zip(sizes, strides, strict=True)
    return (*outer, *(number for pair in pairs for number in pair))
