"""An open, Python-native compiler and machine model for the Sophgo BM1684X TPU, built on xDSL.

`import xdsl_tpu as xt` costs nothing: what the names below stand for is imported when it is used,
so dialects need xDSL alone. docs/api.md shows them at work.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xdsl_tpu.api.calibrating import calibrate
    from xdsl_tpu.api.comparing import Comparison, compare
    from xdsl_tpu.api.compiling import compile, top_module
    from xdsl_tpu.api.program import Program, load
    from xdsl_tpu.api.report import Report
    from xdsl_tpu.api.timing import Timing
    from xdsl_tpu.api.torch import from_torch
    from xdsl_tpu.dialects.errors import TpuError

    __version__: str

__all__ = [
    "Comparison",
    "Program",
    "Report",
    "Timing",
    "TpuError",
    "__version__",
    "calibrate",
    "compare",
    "compile",
    "from_torch",
    "load",
    "top_module",
]

_PLACES = {
    "Comparison": "api.comparing",
    "Program": "api.program",
    "Report": "api.report",
    "Timing": "api.timing",
    "TpuError": "dialects.errors",
    "calibrate": "api.calibrating",
    "compare": "api.comparing",
    "compile": "api.compiling",
    "from_torch": "api.torch",
    "load": "api.program",
    "top_module": "api.compiling",
}
"""Name -> the module below this package that has it."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("xdsl-tpu")
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{place}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
