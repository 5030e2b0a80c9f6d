"""Ops that are written out in others before they are converted: one table, one file per family."""

from xdsl_tpu.frontend.onnx.compose import (
    columns,
    einsum,
    functions,
    grids,
    linear,
    logic,
    products,
    recurrent,
    special,
    spectrum,
    statistics,
    sums,
    transposed,
)
from xdsl_tpu.frontend.onnx.compose.body import Body, Composition

COMPOSED: dict[str, Composition] = {
    **columns.COMPOSED,
    **einsum.COMPOSED,
    **functions.COMPOSED,
    **grids.COMPOSED,
    **linear.COMPOSED,
    **logic.COMPOSED,
    **products.COMPOSED,
    **recurrent.COMPOSED,
    **special.COMPOSED,
    **spectrum.COMPOSED,
    **statistics.COMPOSED,
    **sums.COMPOSED,
    **transposed.COMPOSED,
}
"""ONNX op type to the function that writes such a node out."""

__all__ = ["COMPOSED", "Body", "Composition"]
