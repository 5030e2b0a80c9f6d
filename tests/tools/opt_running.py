"""What tests of `tpu-opt` share: an input, what became of it, and files that are there."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

RELU = """\
#loc = loc(unknown)
module @m attributes {module.weight_file = "w.npz"} {
  func.func @main(%arg0: tensor<2x4xf32> loc(unknown)) -> tensor<2x4xf32> {
    %0 = "top.Input"(%arg0) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc(#loc1)
    %1 = "top.Weight"() : () -> tensor<1x4xf32> loc(#loc2)
    %2 = "top.Add"(%0, %1) : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32> loc(#loc3)
    %3 = "top.Weight"() : () -> tensor<1x4xf32> loc(#loc4)
    %4 = "top.Add"(%2, %3) : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32> loc(#loc5)
    return %4 : tensor<2x4xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("x")
#loc2 = loc("w1")
#loc3 = loc("s1")
#loc4 = loc("w2")
#loc5 = loc("s2")
"""
ALIASES = ("--mlir-print-debuginfo",)
BARE = re.sub(r" loc\(#?\w*\)|^#loc.*\n", "", RELU, flags=re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    status: object
    out: str
    err: str


Opt = Callable[..., Outcome]


def files() -> set[str]:
    return {path.name for path in Path().iterdir()}


def error_of(outcome: Outcome, status: int = 1) -> str:
    """The one message; there is no traceback and no output."""
    assert outcome.status == status
    assert outcome.out == ""
    assert outcome.err.startswith("error: ")
    assert "Traceback" not in outcome.err
    return outcome.err.removeprefix("error: ").strip()
