"""The stage a module is in, and the attributes that record it."""

from collections.abc import Mapping

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute
from xdsl.utils.str_enum import StrEnum

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.packed_weights import floats_of
from xdsl_tpu.dialects.weights import WEIGHT_FILE, known_weights, rename_weights

DEFAULT_CHIP = "bm1684x"
ANY_CHIP = "ALL"
"""What `module.chip` says before a chip is chosen."""


class State(StrEnum):
    """What has been done to a module (`module.state`), in order."""

    TOP_F32 = "TOP_F32"
    TOP_CALIBRATED = "TOP_CALIBRATED"
    TPU_LOWERED = "TPU_LOWERED"
    TPU_REORDERED = "TPU_REORDERED"
    TPU_DIVIDED = "TPU_DIVIDED"
    TPU_ADDRESSED = "TPU_ADDRESSED"


def text_attribute(module: ModuleOp, key: str) -> str | None:
    """A string attribute of the module; None when it is absent."""
    value = module.attributes.get(key)
    return value.data if isinstance(value, StringAttr) else None


def float_format(module: ModuleOp) -> str | None:
    """What `module.mode` computes in: F16 for W4F16, whose matrices alone have 4 bits."""
    mode = text_attribute(module, "module.mode")
    return None if mode is None else floats_of(mode)


MODE_BYTES = {"F32": 4, "F16": 2, "BF16": 2, "INT8": 1}
"""Bytes of an element, by what a network computes in (`float_format`)."""


def chip_name(module: ModuleOp, given: str = "") -> str:
    """The chip that is meant: the one `given`, the module's, or the default until one is chosen."""
    named = text_attribute(module, "module.chip")
    return given or (DEFAULT_CHIP if named in (None, ANY_CHIP) else named)


def chip_of(module: ModuleOp, given: str = "") -> Chip:
    """The description of the chip that `chip_name` says. Raises TpuError for an unknown one."""
    return load_chip(chip_name(module, given))


def cores_of(module: ModuleOp) -> int:
    """The cores that the module is for."""
    count = module.attributes.get("module.cores")
    return count.value.data if isinstance(count, IntegerAttr) else 1


def require_state(module: ModuleOp, wanted: State, pass_name: str, *others: State) -> None:
    """Refuse a module that is in another state than `wanted` (or one of `others`).

    A module without `module.state`, such as one written by hand, is taken as it is.
    """
    state = text_attribute(module, "module.state")
    if state not in (None, wanted, *others):
        raise TpuError(f"{pass_name}: the module is in state {state}, the pass needs {wanted}")


def set_module_attributes(module: ModuleOp, changes: Mapping[str, Attribute]) -> None:
    """Set attributes of the module, keeping them in the order of their names."""
    module.attributes = dict(sorted({**module.attributes, **changes}.items()))


def name_weight_file(module: ModuleOp, stage: str, given: str = "") -> None:
    """Let the module name the weight file of a stage, or the `given` one.

    The name is like `resnet50_tpu_lowered_bm1684x_f16_weight.npz`. A module that names no file
    and has no weights goes on without.
    """
    if WEIGHT_FILE not in module.attributes and not known_weights(module):
        return
    chip, mode = (text_attribute(module, f"module.{key}") for key in ("chip", "mode"))
    if not given and chip and mode:
        name = module.sym_name.data if module.sym_name else "module"
        given = f"{name}_{stage}_{chip}_{mode.lower()}_weight.npz"
    if given:
        rename_weights(module, given)
