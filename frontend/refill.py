"""Refilling stripped models: the short address of `xdsl_tpu.frontend.onnx.refill`."""

from xdsl_tpu.frontend.onnx.refill import is_stripped, refill

__all__ = ["is_stripped", "refill"]
