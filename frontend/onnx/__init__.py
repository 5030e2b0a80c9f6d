"""ONNX models: reading, checking, refilling, importing."""

from xdsl_tpu.frontend.onnx.importer import check_onnx, import_onnx
from xdsl_tpu.frontend.onnx.nodes import node_facts
from xdsl_tpu.frontend.onnx.problems import NodeFacts, Problem
from xdsl_tpu.frontend.onnx.refill import is_stripped, refill
from xdsl_tpu.frontend.onnx.rewrites import nearest_rewrite

__all__ = [
    "NodeFacts",
    "Problem",
    "check_onnx",
    "import_onnx",
    "is_stripped",
    "nearest_rewrite",
    "node_facts",
    "refill",
]
