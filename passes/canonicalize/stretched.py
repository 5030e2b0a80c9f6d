"""Element-wise ops with an operand that is stretched between dimensions which it has."""

from math import prod

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interfaces.layout_rules import aligned
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.constants import is_known, known_values, make_weight
from xdsl_tpu.passes.graph import derived_name, has_shapes, rebuilt, tensor_like
from xdsl_tpu.passes.tensors import is_weight, shape_of

MOST_KEPT = 4
"""Values of so many dimensions are left alone: a command has loops for them."""

SHORT = 16
"""Rows of fewer elements behind a stretched dimension take far more cycles than their bytes do."""

ROW = 64
"""Elements that a row has, if there are as many, when it is written out."""


class WidenStretched(RewritePattern):
    """Add(x: 168x8x3x4x2, y: 168x1x3x1x2) -> Reshape(Add(Reshape(x): 168x192, y written out)).

    Points of deformable attention lie so around the places that look: one for each head (8), size
    of the image (3) and point (4), in two coordinates. A stretched row of a few elements would come
    from DDR in pieces of two. A known `y` becomes a weight of 168x192, another one a Tile.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: top.AddOp | top.MulOp | top.SubOp, rewriter: PatternRewriter
    ) -> None:
        if len(op.inputs) != 2 or not has_shapes(*op.inputs, op.output):
            return
        result = shape_of(op.output)
        if len(result) <= MOST_KEPT:
            return
        for place, (value, other) in enumerate((op.inputs, tuple(reversed(op.inputs)))):
            first = _first_of_row(aligned(shape_of(other), len(result)), result)
            if shape_of(value) != result or first is None:
                continue
            if is_weight(value) or (is_weight(other) and not is_known(other)):
                return
            row = (*result[:first], prod(result[first:]))
            before, made = _written_out(op, other, first)
            seen = reshape(derived_name(op, "_r_rows"), value, row)
            operands = (seen.output, made) if place == 0 else (made, seen.output)
            rows = rebuilt(
                op,
                operands=operands,
                result_types=[tensor_like(op.output, row)],
                location=name_loc(derived_name(op, "_r_in_rows")),
            )
            back = reshape(op.location, rows.output, result)
            rewriter.replace(op, [*before, seen, rows, back])
            return


def _first_of_row(stretched: tuple[int, ...], result: tuple[int, ...]) -> int | None:
    """From which dimension on a row is to be written out; None where it is one already."""
    between = [
        at
        for at, (old, new) in enumerate(zip(stretched, result, strict=True))
        if old != new and max(stretched[at:]) > 1
    ]
    if not between or prod(result[between[-1] + 1 :]) >= SHORT:
        return None
    first = between[-1]
    while first > 1 and prod(result[first:]) < ROW:
        first -= 1
    return first


def _written_out(op: Operation, value: SSAValue, first: int) -> tuple[list[Operation], SSAValue]:
    """Ops that make an operand's rows, and these."""
    result = shape_of(op.results[0])
    shape = aligned(shape_of(value), len(result))
    outer, row = shape[:first], prod(result[first:])
    name = derived_name(op, "_r_stretched")
    if is_known(value):
        known = np.broadcast_to(known_values(value).reshape(shape), (*outer, *result[first:]))
        weight = make_weight(op, name, known.reshape(*outer, row))
        return [weight], weight.output
    counts = [new // old for old, new in zip(shape[first:], result[first:], strict=True)]
    seen = reshape(f"{name}_seen", value, shape)
    whole = top.TileOp.make(
        f"{name}_whole",
        (seen.output,),
        result_types=[tensor_like(value, (*outer, *result[first:]))],
        tile=[*(1 for _ in outer), *counts],
    )
    made = reshape(name, whole.output, (*outer, row))
    return [seen, whole, made], made.output
