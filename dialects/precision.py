"""How exactly 16-bit networks compute their activations and statistics.

`fast` uses short 16-bit sequences, `close` the longest 16-bit ones (within about an ulp), `full`
computes in f32. The module says it in `module.kernel_precision`; `module.high_precision = true`
means `full`, whatever that says, and without either it is `fast`.
"""

from enum import Enum

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Operation

from xdsl_tpu.dialects.errors import TpuError

ATTRIBUTE = "module.kernel_precision"
_HIGH = "module.high_precision"


class Precision(Enum):
    """What 16-bit kernels may lose."""

    FAST = "fast"
    CLOSE = "close"
    FULL = "full"


def precision_of(op: Operation) -> Precision:
    """What the modules around an op ask for; TpuError for a word that is none of the three."""
    around: Operation | None = op
    while around is not None:
        if isinstance(around, ModuleOp):
            high = around.attributes.get(_HIGH)
            if isinstance(high, IntegerAttr) and high.value.data:
                return Precision.FULL
            said = around.attributes.get(ATTRIBUTE)
            if isinstance(said, StringAttr):
                return _named(said.data)
        around = around.parent_op()
    return Precision.FAST


def _named(word: str) -> Precision:
    for one in Precision:
        if one.value == word:
            return one
    known = ", ".join(one.value for one in Precision)
    raise TpuError(f"{ATTRIBUTE} is '{word}'; it can be {known}")
