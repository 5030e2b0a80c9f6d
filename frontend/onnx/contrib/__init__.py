"""Ops of onnxruntime (domain `com.microsoft`), which its optimisers and quantisers leave in graphs.

Each is written out in standard ops, so that a graph means the same before and after an optimiser.
"""

from xdsl_tpu.frontend.onnx.compose.body import Composition
from xdsl_tpu.frontend.onnx.contrib import (
    activation,
    attention,
    grouped,
    linear,
    norm,
    packed,
    quantised,
)
from xdsl_tpu.frontend.onnx.contrib.domain import DOMAIN, with_domains

CONTRIB: dict[str, Composition] = {
    **activation.COMPOSED,
    **attention.COMPOSED,
    **grouped.COMPOSED,
    **linear.COMPOSED,
    **norm.COMPOSED,
    **packed.COMPOSED,
    **quantised.COMPOSED,
}
"""Op type to the function that writes such a node out."""

ON_INTEGERS = quantised.ON_INTEGERS
"""Of the standard's ops those that are written out where they work on integers."""

__all__ = ["CONTRIB", "DOMAIN", "ON_INTEGERS", "with_domains"]
