"""Timelines and figures for people: JSON, Perfetto, tables."""

from xdsl_tpu.backend.report.compare import Closeness, closeness
from xdsl_tpu.backend.report.layers import LayerCost, layer_costs
from xdsl_tpu.backend.report.perfetto import trace
from xdsl_tpu.backend.report.run_report import run_report

__all__ = ["Closeness", "LayerCost", "closeness", "layer_costs", "run_report", "trace"]
