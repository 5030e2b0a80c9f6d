"""Linear layers between images and rows of pixels: convolutions where the image is."""

import math
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.constants import is_known, known_values, make_weight
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    module_of,
    none_for,
    rebuilt,
    sole_producer,
    tensor_like,
)
from xdsl_tpu.passes.module_state import text_attribute
from xdsl_tpu.passes.products import is_plain
from xdsl_tpu.passes.tensors import shape_of

_TURNED = (0, 2, 1)
"""Rows of pixels become channels, or channels rows."""

_EACH_ELEMENT = (top.GELUOp, top.HardSwishOp, top.ReluOp, top.SigmoidOp, top.SiLUOp, top.TanhOp)
"""Ops of one tensor that compute the same wherever an element is."""

_VIEWS = (top.ReshapeOp, top.SqueezeOp, top.UnsqueezeOp, top.FlattenOp)

_BYTES = {"F32": 4, "F16": 2, "BF16": 2}
"""Of an element, in the modes whose values have no ranges of their own."""

_LARGEST_MATRIX = 6 << 20
"""Bytes of a matrix that may stay in local memory beside what a network computes."""


class _Linear(NamedTuple):
    """The weights of a product whose numbers are known: x (.., K) times (K, N) plus (N,)."""

    matrix: SSAValue
    bias: SSAValue | None

    @property
    def shape(self) -> tuple[int, int]:
        """K and N."""
        depth, width = shape_of(self.matrix)
        return depth, width


class RowsToImage(RewritePattern):
    """Reshape(Permute(GELU(MatMul(x, W)))) -> GELU(Conv(Reshape(Permute(x)))).

        MatMul   1x4096x32 @ 32x128                  Permute  1x4096x32 -> 1x32x4096
        GELU     1x4096x128                          Reshape  1x32x64x64
        Permute  1x4096x128 -> 1x128x4096     ->     Conv     1x128x64x64 {kernel = [1, 1]}
        Reshape  1x128x64x64                         GELU     1x128x64x64

    A convolution that reads the image then finds it in the layout it was made in. There may be any
    op on each element or none behind the product, which has no fewer columns than it sums over, so
    that no more is permuted.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReshapeOp, rewriter: PatternRewriter) -> None:
        permute = sole_producer(op.input, top.PermuteOp)
        if permute is None or ints(permute.order) != _TURNED or not has_shapes(op.output):
            return
        function, value = _function(permute.input)
        product = sole_producer(value, top.MatMulOp)
        linear = None if product is None else _linear(product)
        if product is None or linear is None:
            return
        target, (batch, _, depth) = shape_of(op.output), shape_of(product.input)
        if len(target) != 4 or target[:2] != (batch, linear.shape[1]):
            return
        if depth > target[1] or 1 in target[2:]:
            return
        turned = _permuted(derived_name(op, "_r_turned"), product.input)
        image = reshape(derived_name(op, "_r_image"), turned.output, (batch, depth, *target[2:]))
        made: list[Operation] = [turned, image]
        if function is None:
            made += _pointwise(product, linear, image.output, op.output.type, op.location, rewriter)
        else:
            kind = tensor_like(value, target)
            name = name_loc(derived_name(product, "_r_image"))
            made += _pointwise(product, linear, image.output, kind, name, rewriter)
            made.append(_on_image(function, made[-1].results[0], op.output.type, op.location))
        rewriter.replace(op, made)
        rewriter.erase(permute)
        if function is not None:
            rewriter.erase(function)
        rewriter.erase(product)


class ImageToRows(RewritePattern):
    """MatMul(GELU(Permute(Reshape(x))), W) -> Permute(Reshape(Conv(GELU(x)))).

        Reshape  1x128x64x64 -> 1x128x4096           GELU     1x128x64x64
        Permute  1x4096x128                          Conv     1x32x64x64 {kernel = [1, 1]}
        GELU     1x4096x128                   ->     Reshape  1x32x4096
        MatMul   1x4096x128 @ 128x32                 Permute  1x4096x32

    There may be any op on each element or none in front of the product, which has no more columns
    than the image has channels, so that no more is permuted.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        linear = _linear(op)
        if linear is None:
            return
        function, value = _function(op.input)
        permute = sole_producer(value, top.PermuteOp)
        if permute is None or ints(permute.order) != _TURNED:
            return
        flat = sole_producer(permute.input, top.ReshapeOp)
        if flat is None or not has_shapes(flat.input, flat.output):
            return
        source, depth, width = shape_of(flat.input), *linear.shape
        if len(source) != 4 or source[:2] != shape_of(flat.output)[:2] or 1 in source[2:]:
            return
        if width > depth:
            return
        image, made = flat.input, list[Operation]()
        if function is not None:
            kind = tensor_like(function.results[0], source)
            name = name_loc(derived_name(function, "_r_image"))
            made.append(_on_image(function, image, kind, name))
            image = made[0].results[0]
        batch, _, pixels = shape_of(flat.output)
        wanted = tensor_like(op.output, (batch, width, *source[2:]))
        name = name_loc(derived_name(op, "_r_image"))
        conv = _pointwise(op, linear, image, wanted, name, rewriter)
        rows = reshape(derived_name(op, "_r_rows"), conv[-1].results[0], (batch, width, pixels))
        back = _permuted(op.location, rows.output)
        rewriter.replace(op, [*made, *conv, rows, back])
        if function is not None:
            rewriter.erase(function)
        rewriter.erase(permute)
        rewriter.erase(flat)


class RowToPixel(RewritePattern):
    """MatMul(x: 1xK, W) of a float network -> Reshape(Conv(Reshape(x): 1xKx1x1)).

    A product has a row in each lane, so that one row keeps one lane busy; a convolution has an
    output in each. An image of one pixel also stays in local memory with what made it, as the
    pooled features in front of a classifier do; a token among others lies in one lane, where a
    product takes it. Matrices that no group would hold are better streamed as they lie. Integer
    networks keep the product: a convolution has other scales.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, op.output) or math.prod(shape_of(op.input)[:-1]) != 1:
            return
        if not _is_pixel(op.input):
            return
        mode = text_attribute(module_of(op), "module.mode") or "F16"
        linear = _linear(op, len(shape_of(op.input)))
        if linear is None or mode not in _BYTES or shape_of(op.output)[-1] == 1:
            return
        if math.prod(linear.shape) * _BYTES[mode] > _LARGEST_MATRIX:
            return
        depth, width = linear.shape
        image = reshape(derived_name(op, "_r_pixel"), op.input, (1, depth, 1, 1))
        kind = tensor_like(op.output, (1, width, 1, 1))
        name = name_loc(derived_name(op, "_r_image"))
        conv = _pointwise(op, linear, image.output, kind, name, rewriter)
        row = reshape(op.location, conv[-1].results[0], shape_of(op.output))
        rewriter.replace(op, [image, *conv, row])


def _is_pixel(value: SSAValue) -> bool:
    """Whether the numbers of a row are the channels of an image, pooled or of one pixel."""
    owner = value.owner
    while has_shapes(value) and isinstance(owner, (*_VIEWS, *_EACH_ELEMENT)):
        value = owner.operands[0]
        owner = value.owner
    if isinstance(owner, top.ReduceOp):
        return has_shapes(owner.input) and len(shape_of(owner.input)) == 4
    return has_shapes(value) and len(shape_of(value)) == 4 and shape_of(value)[2:] == (1, 1)


def _linear(op: top.MatMulOp, rank: int = 3) -> _Linear | None:
    """A product of rows of pixels, (n, pixels, K), with a known matrix and perhaps a bias."""
    if not is_plain(op):
        return None
    if not has_shapes(op.input, op.output) or len(shape_of(op.input)) != rank:
        return None
    if not is_known(op.right) or len(shape_of(op.right)) != 2:
        return None
    if is_none(op.bias):
        return _Linear(op.right, None)
    if not is_known(op.bias) or math.prod(shape_of(op.bias)) != shape_of(op.right)[1]:
        return None
    return _Linear(op.right, op.bias)


def _function(value: SSAValue) -> tuple[Operation | None, SSAValue]:
    """An op on each element that makes a value for one user, and what it reads."""
    op = value.owner
    if isinstance(op, _EACH_ELEMENT) and value.has_one_use():
        return op, op.operands[0]
    return None, value


def _on_image(
    function: Operation, image: SSAValue, kind: Attribute, name: LocationAttr
) -> Operation:
    """An op on each element, of an image in place of its pixels."""
    operands = (image, *function.operands[1:])
    return rebuilt(function, operands=operands, result_types=[kind], location=name)


def _permuted(name: str | LocationAttr, value: SSAValue) -> top.PermuteOp:
    n, rows, columns = shape_of(value)
    kind = tensor_like(value, (n, columns, rows))
    return top.PermuteOp.make(name, (value,), result_types=[kind], order=_TURNED)


def _pointwise(
    op: top.MatMulOp,
    linear: _Linear,
    image: SSAValue,
    kind: Attribute,
    name: LocationAttr,
    rewriter: PatternRewriter,
) -> list[Operation]:
    """A product over the channels of an image: its weights and the convolution, which is last."""
    depth, width = linear.shape
    filters = np.ascontiguousarray(known_values(linear.matrix).T).reshape(width, depth, 1, 1)
    made: list[Operation] = [make_weight(op, derived_name(op, "_filter"), filters)]
    bias = none_for(op, rewriter)
    if linear.bias is not None:
        terms = known_values(linear.bias).reshape(width)
        made.append(make_weight(op, derived_name(op, "_bias"), terms))
        bias = made[-1].results[0]
    conv = top.ConvOp.make(
        name,
        (image, made[0].results[0], bias),
        result_types=[kind],
        kernel_shape=(1, 1),
        strides=(1, 1),
        pads=(0, 0, 0, 0),
        dilations=(1, 1),
        group=1,
        do_relu=op.do_relu,
        relu_limit=op.relu_limit,
    )
    return [*made, conv]
