"""What the ops compute: numpy semantics of `top` in F32 and of `tpu` in F32, F16 and BF16.

    outputs = run_module(module, {"input": image}, trace=lambda name, array: ...)

`numerics` holds the pure functions, `families` one table per kind of op from op classes to rules,
`layouts` the chip's arrangement of weights. Tensors of f16 and bf16 are float32 arrays of numbers
representable in those types; every op computes in f32 and rounds its results to their type.
"""

from typing import TYPE_CHECKING

from xdsl_tpu.dialects.lazy import later

if TYPE_CHECKING:
    from xdsl_tpu.dialects.interpreters.interpreter import SUPPORTED_OPS, TensorInterpreter
    from xdsl_tpu.dialects.interpreters.runner import run_module

__all__ = ["SUPPORTED_OPS", "TensorInterpreter", "run_module"]

__getattr__ = later(
    __name__,
    {
        "SUPPORTED_OPS": "interpreter",
        "TensorInterpreter": "interpreter",
        "run_module": "runner",
    },
)
