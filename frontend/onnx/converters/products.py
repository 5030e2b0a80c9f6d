"""Products with constant matrices along an axis."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.frontend.onnx.converters.context import Context
from xdsl_tpu.frontend.onnx.graph import Node


def product_along(
    context: Context,
    node: Node,
    x: SSAValue,
    shape: Sequence[int],
    axis: int,
    weights: npt.NDArray[Any],
) -> SSAValue:
    """x (of `shape`) times weights (old, new) along `axis`, which becomes `new` long."""
    old, new = weights.shape
    outer, inner = prod(shape[:axis]), prod(shape[axis + 1 :])
    flat, result = (outer, old, inner), (outer, new, inner)
    name = f"{node.output}_axis{axis}"
    if inner == 1:
        flat, result = (outer, old), (outer, new)
        operands = [context.weight(name, weights)]
    else:
        operands = [context.weight(name, np.ascontiguousarray(weights.T)[None])]
    rows = context.step(node, f"rows{axis}", top.ReshapeOp, [x], flat, shape=flat)
    operands.insert(0 if inner == 1 else 1, rows)
    operands.append(context.none)
    y = context.step(node, f"product{axis}", top.MatMulOp, operands, result)
    whole = [*shape[:axis], new, *shape[axis + 1 :]]
    return context.step(node, f"resized{axis}", top.ReshapeOp, [y], whole, shape=whole)
