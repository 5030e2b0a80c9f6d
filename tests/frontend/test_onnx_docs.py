"""The table of supported ops is complete."""

import re
from pathlib import Path

from onnx import defs

from xdsl_tpu.frontend.onnx.compose import COMPOSED
from xdsl_tpu.frontend.onnx.converters import CONVERTERS

DOCUMENT = Path(__file__).parents[2] / "docs" / "onnx.md"


def test_every_supported_op_is_in_the_table() -> None:
    rows = re.findall(r"^\| ([^|]+) \|", DOCUMENT.read_text().split("## Ops")[1], re.MULTILINE)
    documented = set(re.findall(r"\w+", " ".join(rows))) & {s.name for s in defs.get_all_schemas()}
    supported = {op for op in CONVERTERS | COMPOSED if defs.has(op)}
    assert documented - {"CastLike"} == supported


def test_every_converter_is_reached() -> None:
    """An op that is written out has a converter only where writing out leaves some as they are."""
    assert CONVERTERS.keys() & COMPOSED.keys() == {
        "BatchNormalization",
        "ConvTranspose",
        "CumSum",
        "GRU",
        "And",
        "GridSample",
        "LSTM",
        "Or",
        "Where",
    }
