"""Which commands are simulated from documentation alone.

Everything else that is simulated is bit-exact (in exact mode) against recordings of
the chip's C model. A test compares the whole-function entries with the recordings in the
repository.
"""

from collections.abc import Callable

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import AR, CONV, DmaTensor, Precision

UNVERIFIED_FUNCTIONS: frozenset[tuple[str, int]] = frozenset(
    {
        ("DMA_tensor", DmaTensor.COLLECT),
    }
)
"""Functions no recording of which exists."""


def _casts(command: Command) -> bool:
    """Between f16 and bf16: the C model has no such cast."""
    return {command["opd0_prec"], command["res0_prec"]} == {Precision.F16, Precision.BF16}


def _convolves_int16(command: Command) -> bool:
    """The C model leaves the result of such a convolution untouched."""
    return command["opd0_prec"] == Precision.I16


def _touches_int4(command: Command) -> bool:
    """The C model refuses int4, or leaves the result of a convolution untouched."""
    names = ("res0_prec", "opd0_prec", "opd1_prec")
    return any(command[name] == Precision.I4 for name in names)


UNVERIFIED_CASES: dict[tuple[str, int], Callable[[Command], bool]] = {
    ("sAR", AR.DATA_CONVERT): _casts,
    **{("sCONV", function): _convolves_int16 for function in CONV},
}
"""Functions recorded for some operands only: whether a command is not like the recorded ones."""


def is_unverified(command: Command) -> bool:
    """Whether no recording covers what the machine does for a command."""
    key = command.form.name, command.function
    case = UNVERIFIED_CASES.get(key)
    if key in UNVERIFIED_FUNCTIONS or _touches_int4(command):
        return True
    return case is not None and case(command)
