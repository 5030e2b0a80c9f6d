"""Lines whose elements lie between two others, gathered one after the other: resized lines."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.interpreters.numerics.resize import neighbours
from xdsl_tpu.passes.canonicalize.common import has_relu, reshape, unit_coefficients
from xdsl_tpu.passes.constants import values_of, whole_numbers_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, none_for, producer, tensor_like
from xdsl_tpu.passes.tensors import shape_of

_RANK = 3
_COORDINATES = ("half_pixel", "align_corners", "asymmetric")
_CLOSE = 1e-4
"""How far, in elements, a place may be from where it is with one of these."""

_Indices = npt.NDArray[np.int64]


class _Taken(NamedTuple):
    """Elements of the lines of N, C, L."""

    source: SSAValue
    indices: _Indices


class InterpFromGathers(RewritePattern):
    """Add(low, Mul(Sub(high, low), w)) of gathered elements -> Interp(x), linear along the lines.

        Permute   1x72x4096 -> 4096x1x72             Reshape  1x72x1x4096
        GatherND  [0, 0, 0, 1, ..] -> 8192x1x72      Interp   1x72x1x8192 {half_pixel}
        GatherND  [1, 1, 1, 2, ..] -> 8192x1x72  ->  Reshape  1x72x8192
        Permute   1x72x8192, of both
        Sub, Mul by [0, .25, .75, ..], Add

    So PyTorch's exporter takes apart what is resized along one dimension. It is left alone where
    the places are not those of one of ONNX's rules.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.AddOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or has_relu(op) or not unit_coefficients(op):
            return
        for low, scaled in (op.inputs, reversed(op.inputs)):
            if (found := _resized(low, scaled)) is None:
                continue
            source, places = found
            n, c, size = shape_of(source)
            rule = _rule(places, size)
            if rule is None:
                continue
            image = reshape(derived_name(op, "_r_image"), source, (n, c, 1, size))
            larger = top.InterpOp.make(
                derived_name(op, "_r_resized"),
                (image.output, none_for(op, rewriter)),
                result_types=[tensor_like(op.output, (n, c, 1, len(places)))],
                mode="linear",
                coord_mode=rule,
                scale_h=1.0,
                scale_w=len(places) / size,
            )
            back = reshape(op.location, larger.output, shape_of(op.output))
            rewriter.replace(op, [image, larger, back])
            return


def _resized(low: SSAValue, scaled: SSAValue) -> tuple[SSAValue, npt.NDArray[np.float64]] | None:
    """The lines that are resized, and where in them each element lies."""
    if (factors := _scaled(scaled)) is None:
        return None
    difference, shares = factors
    below = _taken(low)
    if below is None or len(difference.inputs) != 2 or difference.inputs[1] is not low:
        return None
    above = _taken(difference.inputs[0])
    if above is None or above.source is not below.source:
        return None
    steps = above.indices - below.indices
    if shares.size not in (1, len(steps)) or not set(steps.tolist()) <= {0, 1}:
        return None
    return below.source, below.indices + steps * shares.astype(np.float64)


def _scaled(value: SSAValue) -> tuple[top.SubOp, npt.NDArray[np.float32]] | None:
    """The difference that a value is a multiple of, and the factors along its last dimension."""
    owner, shares = value.owner, None
    if isinstance(owner, top.MulConstOp) and not has_relu(owner):
        difference, shares = owner.input, np.array([owner.const_val.value.data], np.float32)
    elif isinstance(owner, top.MulOp) and not has_relu(owner) and len(owner.inputs) == 2:
        known = [values_of(one) for one in owner.inputs]
        if (known[0] is None) == (known[1] is None):
            return None
        place = 0 if known[0] is None else 1
        difference, shares = owner.inputs[place], known[1 - place]
    else:
        return None
    if shares is None or shares.size != len(shares.T):
        return None
    sub = producer(difference, top.SubOp)
    if sub is None or has_relu(sub) or sub.is_reverse.value.data or not unit_coefficients(sub):
        return None
    return sub, shares.reshape(-1)


def _taken(value: SSAValue) -> _Taken | None:
    """The elements of lines that a value has, by a Gather or by one between Permutes."""
    if not has_shapes(value) or len(shape_of(value)) != _RANK:
        return None
    owner, axis, orders = value.owner, _RANK - 1, None
    if isinstance(owner, top.PermuteOp):
        orders, axis = ints(owner.order), 0
        owner = owner.input.owner
    if isinstance(owner, top.GatherNDOp):
        if axis or owner.batch_dims.value.data or not has_shapes(owner.indices):
            return None
        if shape_of(owner.indices)[1:] != (1,):
            return None
    elif not isinstance(owner, top.GatherOp) or owner.axis.value.data % _RANK != axis:
        return None
    source, indices = owner.input, whole_numbers_of(owner.indices)
    if indices is None or not has_shapes(source, owner.indices):
        return None
    if isinstance(owner, top.GatherOp) and len(shape_of(owner.indices)) != 1:
        return None
    if orders is not None:
        before = producer(source, top.PermuteOp)
        if before is None or not has_shapes(before.input):
            return None
        if tuple(ints(before.order)[place] for place in orders) != tuple(range(_RANK)):
            return None
        if ints(before.order)[0] != _RANK - 1:
            return None
        source = before.input
    return _Taken(source, indices.reshape(-1) % shape_of(source)[-1])


def _rule(places: npt.NDArray[np.float64], size: int) -> str | None:
    """Which of ONNX's rules has these places."""
    for rule in _COORDINATES:
        below, shares = neighbours(size, len(places), len(places) / size, "linear", rule)
        if np.abs(below + shares - places).max() <= _CLOSE:
            return rule
    return None
