"""ONNX models: reading, checking, refilling, importing."""

from xdsl_tpu.frontend.onnx.importer import check_onnx, import_onnx
from xdsl_tpu.frontend.onnx.problems import Problem
from xdsl_tpu.frontend.onnx.refill import is_stripped, refill

__all__ = ["Problem", "check_onnx", "import_onnx", "is_stripped", "refill"]
