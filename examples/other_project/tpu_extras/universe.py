"""What xDSL's tools learn when this project is installed; everything loads when it is used."""

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe


def _extras() -> Dialect:
    from tpu_extras.dialect import Extras

    return Extras


def _lower_extras() -> type[ModulePass]:
    from tpu_extras.lower import LowerExtrasPass

    return LowerExtrasPass


UNIVERSE = Universe(
    all_dialects={"extras": _extras},
    all_passes={"lower-extras": _lower_extras},
)
