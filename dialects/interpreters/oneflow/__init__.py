"""What ops of `oneflow` compute, as the kernels of OneFlow do; one table of rules per family."""

from collections.abc import Mapping
from typing import Final

from xdsl_tpu.dialects.interpreters.oneflow import elementwise, linear, movement, spatial
from xdsl_tpu.dialects.interpreters.registry import Rules

ONEFLOW_FAMILIES: Final[Mapping[str, Rules]] = {
    "oneflow_elementwise": elementwise.RULES,
    "oneflow_linear": linear.RULES,
    "oneflow_movement": movement.RULES,
    "oneflow_spatial": spatial.RULES,
}
