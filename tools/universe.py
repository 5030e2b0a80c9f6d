"""What plain xDSL tools learn when this package is installed (entry point `xdsl.universe`).

Every xDSL tool imports this module at start-up, so it only names things; dialects and passes
are imported when used.
"""

from xdsl.ir import Dialect
from xdsl.universe import Universe
from xdsl.utils.target import Target

from xdsl_tpu.passes import PASSES, PassLoader

ASM = "bm1684x-asm"
"""The output language of commands as text."""


def _oneflow() -> Dialect:
    from xdsl_tpu.dialects.oneflow import OneFlow

    return OneFlow


def _sbp() -> Dialect:
    from xdsl_tpu.dialects.sbp import Sbp

    return Sbp


def _quant() -> Dialect:
    from xdsl_tpu.dialects.quant import Quant

    return Quant


def _tile() -> Dialect:
    from xdsl_tpu.dialects.tile import Tile

    return Tile


def _top() -> Dialect:
    from xdsl_tpu.dialects.top import Top

    return Top


def _tpu() -> Dialect:
    from xdsl_tpu.dialects.tpu import Tpu

    return Tpu


def _asm() -> type[Target]:
    from xdsl_tpu.backend.asm.target import PlainAsmTarget

    return PlainAsmTarget


# Names must be unique over xDSL and all plugins: xDSL has a `canonicalize` of its own.
_SHARED_NAMES = ("canonicalize",)


def _universe_passes() -> dict[str, PassLoader]:
    return {name: load for name, load in PASSES.items() if name not in _SHARED_NAMES}


UNIVERSE = Universe(
    all_dialects={
        "oneflow": _oneflow,
        "quant": _quant,
        "sbp": _sbp,
        "tile": _tile,
        "top": _top,
        "tpu": _tpu,
    },
    all_passes=_universe_passes(),
    all_targets={ASM: _asm},
)
