"""Timelines and figures for people: JSON, Perfetto, a page, tables."""

from xdsl_tpu.backend.report.against import compare_layers, read_report
from xdsl_tpu.backend.report.compare import Closeness, closeness
from xdsl_tpu.backend.report.explain import Explanation, explain
from xdsl_tpu.backend.report.groups import Groups, read_groups
from xdsl_tpu.backend.report.html import html_report
from xdsl_tpu.backend.report.layers import LayerCost, layer_costs
from xdsl_tpu.backend.report.perfetto import trace
from xdsl_tpu.backend.report.run_report import run_report

__all__ = [
    "Closeness",
    "Explanation",
    "Groups",
    "LayerCost",
    "closeness",
    "compare_layers",
    "explain",
    "html_report",
    "layer_costs",
    "read_groups",
    "read_report",
    "run_report",
    "trace",
]
