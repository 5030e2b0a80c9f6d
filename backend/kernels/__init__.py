"""How each tpu op becomes commands: one file per op family, one line per op here."""

from collections.abc import Callable

from xdsl.ir import Operation

from xdsl_tpu.backend.kernels.support import KernelContext

Kernel = Callable[[KernelContext, Operation], None]

KERNELS: dict[str, str] = {}
"""IR op name -> "module:function" under `xdsl_tpu.backend.kernels`."""
