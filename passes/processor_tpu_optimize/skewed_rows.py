"""Movement that takes other elements of every row than of the one before."""

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interfaces.index_map import IndexMap
from xdsl_tpu.dialects.interfaces.movement import movement_of
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.constants import unused_name
from xdsl_tpu.passes.graph import derived_name, module_of, none_for, tensor_like
from xdsl_tpu.passes.module_state import chip_of
from xdsl_tpu.passes.picked_rows import Picked, picked
from xdsl_tpu.passes.processor_tpu_optimize.permutes import reshape
from xdsl_tpu.passes.tensors import is_weight, shape_of
from xdsl_tpu.passes.weight_data import stored_as

Places = npt.NDArray[Any]


class SkewedRows(RewritePattern):
    """Slice(Reshape(..(x))) that keeps to the rows of x -> GatherElements(x, places).

        Pad      4x8x15 -> 4x8x16
        Reshape  4x16x8                 Weight          1x8x8: c - r + 7
        Slice    4x15x8           ->    GatherElements  4x8x15 -> 4x8x8
        Reshape  4x8x15
        Slice    4x8x8

    So attention finds, among products with all distances, those between its queries and keys
    (Transformer-XL, arXiv 1901.02860; Conformer, 2005.08100; BoTNet, 2101.11605). What moves are
    single elements, and a Slice that takes the same of every row stays.
    """

    def __init__(self, weights: Weights | None) -> None:
        self.weights = weights

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.SliceOp, rewriter: PatternRewriter) -> None:
        if self.weights is None:
            return
        shape, lanes = shape_of(op.output), chip_of(module_of(op)).lanes
        best: tuple[SSAValue, Picked] | None = None
        for value, moves in _read_through(op):
            places = _places(shape_of(value), shape, moves)
            found = None if places is None else picked(shape_of(value), places, lanes)
            best = best if found is None else (value, found)
        if best is not None:
            self._replace(op, *best, rewriter)

    def _replace(
        self, op: tpu.SliceOp, value: SSAValue, found: Picked, rewriter: PatternRewriter
    ) -> None:
        assert self.weights is not None
        name = unused_name(self.weights, derived_name(op, "_r_places"))
        self.weights[name] = stored_as(found.places, found.element)
        kind = TensorType(found.element, found.places.shape)
        weight = top.WeightOp.make(name, (), result_types=[kind])
        rows = reshape(derived_name(op, "_r_rows"), value, found.shape)
        made = tpu.GatherElementsOp.make(
            derived_name(op, "_r_picked"),
            (rows.output, weight.output, *[none_for(op, rewriter)] * 2),
            result_types=[tensor_like(op.output, found.result)],
            axis=2,
        )
        rewriter.replace(
            op, [rows, weight, made, reshape(op.location, made.output, shape_of(op.output))]
        )


def _read_through(op: Operation) -> Iterator[tuple[SSAValue, IndexMap]]:
    """What movement ops that only each other read take a result from, the nearest first, and how;
    weights beside it give nothing that is left."""
    moves = IndexMap.identity(prod(shape_of(op.results[0])))
    while (movement := movement_of(op)) is not None:
        parts = [one for one in movement.parts if not is_weight(op.operands[one.operand])]
        if len(parts) != 1:
            return
        moves = moves.after(parts[0].map)
        value = op.operands[parts[0].operand]
        yield value, moves
        if not isinstance(value.owner, Operation) or not value.has_one_use():
            return
        op = value.owner


def _places(source: Shape, made: Shape, moves: IndexMap) -> Places | None:
    """The elements of each row that make the one in its place, (1, rows, picked), as in all images.

    None where other rows are read, something else than elements, or the same of all rows.
    """
    if min(len(source), len(made)) < 2 or source[-2] != made[-2]:
        return None
    *outer, rows, count = made
    if prod(source[:-1]) != prod(made[:-1]):
        return None
    if not moves.keeps_images(prod(outer), rows * count, rows * source[-1]):
        return None
    first = IndexMap.identity(rows * count).after(moves)
    read = np.full(rows * count, -1)
    for box in first.boxes:
        to, at = np.array(box.to), np.array(box.at)
        for digit in box.digits:
            steps = np.arange(digit.extent)
            to, at = to[..., None] + steps * digit.to, at[..., None] + steps * digit.at
        read[to] = at
    places = read.reshape(rows, count) - np.arange(rows)[:, None] * source[-1]
    if places.min() < 0 or places.max() >= source[-1] or (places == places[:1]).all():
        return None
    return places[None]
