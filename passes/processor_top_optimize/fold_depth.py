"""Convolutions over three dimensions whose windows share no plane: each window is an image."""

from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.constants import make_weight, values_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, module_of, rebuilt, tensor_like
from xdsl_tpu.passes.lowering.dilation import Window
from xdsl_tpu.passes.lowering.planes import tiles_of
from xdsl_tpu.passes.module_state import MODE_BYTES, chip_of, text_attribute
from xdsl_tpu.passes.processor_top_optimize.volumes_beside import SWAP, Lie, lies_beside
from xdsl_tpu.passes.tensors import shape_of


class WindowsToImages(RewritePattern):
    """Conv(x: NxCxDxHxW) {d x k x l, strides d x s x t} -> Conv(N(D/d)x(Cd)xHxW) {k x l, s x t}.

        Conv  1x3x8x112x112,            ->    Reshape, Permute, Reshape  4x6x112x112
              192x3x2x16x16                   Conv  4x6x112x112, 192x6x16x16
                                              Reshape, Permute, Reshape  1x192x4x7x7

    Otherwise planes of the result are output channels of one image with the planes of the input as
    channels, and filters are zeros where they do not look (`passes/lowering/planes.py`): those of
    every window are loaded. Values are moved as often there. Which of the two is chosen by the
    cycles of the array and of loading the filters; where channels are few, several planes at once
    fill the lanes. Where both take as long, what lies in images beside it decides, such as that of
    depthwise convolutions of volumes.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        if not _shares_no_plane(op):
            return
        filters = values_of(op.filter)
        mode = text_attribute(module_of(op), "module.mode") or "F16"
        if filters is None or mode not in MODE_BYTES:
            return
        chip, price = chip_of(module_of(op)), _price(op)
        own, joined = price.own(chip, MODE_BYTES[mode]), price.joined(chip, MODE_BYTES[mode])
        if own > joined or (own == joined and not _may_be_images(op)):
            return
        n, c, depth, height, width = shape_of(op.input)
        oc, _, taps, *kernel = shape_of(op.filter)
        planes = depth // taps
        window = (taps,) if taps > 1 else ()
        apart = reshape(
            derived_name(op, "_r_apart"), op.input, (n, c, planes, *window, height * width)
        )
        turned = top.PermuteOp.make(
            derived_name(op, "_r_windows"),
            (apart.output,),
            result_types=[tensor_like(op.input, (n, planes, c, *window, height * width))],
            order=(*SWAP, 4) if window else SWAP,
        )
        images = reshape(
            derived_name(op, "_r_images"), turned.output, (n * planes, c * taps, height, width)
        )
        flat = np.ascontiguousarray(filters.reshape(oc, c * taps, *kernel))
        weight = make_weight(op, derived_name(op, "_flat_filter"), flat)
        *_, high, wide = shape_of(op.output)
        conv = rebuilt(
            op,
            operands=(images.output, weight.output, *op.operands[2:]),
            result_types=[tensor_like(op.output, (n * planes, oc, high, wide))],
            location=name_loc(derived_name(op, "_convolved")),
        )
        _set_plane_window(conv, op)
        by_window = reshape(
            derived_name(op, "_r_places"), conv.output, (n, planes, oc, high * wide)
        )
        back = top.PermuteOp.make(
            derived_name(op, "_r_channels"),
            (by_window.output,),
            result_types=[tensor_like(op.output, (n, oc, planes, high * wide))],
            order=SWAP,
        )
        whole = top.ReshapeOp.make(op.location, (back.output,), result_types=op.result_types)
        rewriter.replace(op, [apart, turned, images, weight, conv, by_window, back, whole])


def _set_plane_window(conv: top.ConvOp, op: top.ConvOp) -> None:
    """The window of `op` over its last two dimensions."""
    conv.kernel_shape = I64_ARRAY.encode(ints(op.kernel_shape)[1:])
    conv.strides = I64_ARRAY.encode(ints(op.strides)[1:])
    pads = ints(op.pads) or (0,) * 6
    conv.pads = I64_ARRAY.encode((*pads[1:3], *pads[4:]))
    if op.dilations is not None:
        conv.dilations = I64_ARRAY.encode(ints(op.dilations)[1:])


def _may_be_images(op: top.ConvOp) -> bool:
    """Whether what is beside a convolution lies in images, or does not say how."""
    lies = lies_beside(op)
    return Lie.IMAGES in lies or not lies


def _shares_no_plane(op: top.ConvOp) -> bool:
    """Whether windows lie side by side along D and cover it."""
    if not has_shapes(op.input, op.output, op.filter) or op.group.value.data != 1:
        return False
    kernel = ints(op.kernel_shape)
    if len(kernel) != 3 or any(ints(op.inserts or ())):
        return False
    pads, dilations = ints(op.pads) or (0,) * 6, ints(op.dilations or ()) or (1,) * 3
    depth, taps = shape_of(op.input)[2], kernel[0]
    if pads[0] or pads[3] or (taps > 1 and dilations[0] > 1):
        return False
    return ints(op.strides)[0] == taps and depth % taps == 0 and depth > taps


@dataclass(frozen=True)
class _Price:
    """Sizes that say what both ways take, in cycles; `taps` and `places` are those of a plane."""

    images: int
    channels: tuple[int, int]
    depth: int
    window: Window
    taps: int
    places: int

    def own(self, chip: Chip, width: int) -> float:
        """Of images of their own."""
        oc, ic = self.channels
        blocks = self._blocks((oc, ic * self.window.kernel), chip, width)
        return self._cycles(blocks * (self.depth // self.window.kernel), blocks, chip, width)

    def joined(self, chip: Chip, width: int) -> float:
        """Of planes that are channels of one image."""
        oc, ic = self.channels
        blocks = sum(
            self._blocks((len(tile.seen) * oc, tile.span * ic), chip, width)
            for tile in tiles_of(self.window, self.depth, 0, (oc, ic), chip.weight_lanes)
        )
        return self._cycles(blocks, blocks, chip, width)

    def _blocks(self, channels: tuple[int, int], chip: Chip, width: int) -> int:
        """Of filters that the array holds at once."""
        (outputs, inputs), lanes = channels, chip.weight_lanes
        return -(-outputs // lanes.count) * -(-inputs // lanes.channels(width))

    def _cycles(self, multiplied: int, loaded: int, chip: Chip, width: int) -> float:
        """The longer of multiplying so many blocks for each image and of loading so many."""
        lanes = chip.weight_lanes
        at_once = chip.cube_outputs.get(width, chip.eu(width))
        array = self.images * multiplied * self.taps * -(-self.places // at_once)
        block = lanes.count * lanes.channels(width) * self.taps * width
        return max(array, loaded * block / chip.load_bytes_per_cycle)


def _price(op: top.ConvOp) -> _Price:
    images, channels, depth = shape_of(op.input)[:3]
    outputs, _, taps, *kernel = shape_of(op.filter)
    window = Window(taps, taps, 0, 0, 1)
    places = prod(shape_of(op.output)[3:])
    return _Price(images, (outputs, channels), depth, window, prod(kernel), places)
