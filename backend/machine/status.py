"""Which commands are simulated from documentation alone.

Everything else that is simulated is bit-exact (in exact mode) against recordings of
the chip's C model. A test compares the whole-function entries with the recordings in the
repository.
"""

from collections.abc import Callable

from xdsl_tpu.backend.isa import Command

_F16, _INT16, _BF16, _INT4 = 1, 3, 5, 6

UNVERIFIED_FUNCTIONS: frozenset[tuple[str, int]] = frozenset(
    {
        ("DMA_tensor", 2),
    }
)
"""Functions no recording of which exists."""


def _casts(command: Command) -> bool:
    """Between f16 and bf16: the C model has no such cast."""
    return {command["opd0_prec"], command["res0_prec"]} == {_F16, _BF16}


def _convolves_int16(command: Command) -> bool:
    """The C model leaves the result of such a convolution untouched."""
    return command["opd0_prec"] == _INT16


def _touches_int4(command: Command) -> bool:
    """The C model refuses int4, or leaves the result of a convolution untouched."""
    names = ("res0_prec", "opd0_prec", "opd1_prec")
    return any(command[name] == _INT4 for name in names)


UNVERIFIED_CASES: dict[tuple[str, int], Callable[[Command], bool]] = {
    ("sAR", 14): _casts,
    **dict.fromkeys([("sCONV", 0), ("sCONV", 1), ("sCONV", 2)], _convolves_int16),
}
"""Functions recorded for some operands only: whether a command is not like the recorded ones."""


def is_unverified(command: Command) -> bool:
    """Whether no recording covers what the machine does for a command."""
    key = command.form.name, command.function
    case = UNVERIFIED_CASES.get(key)
    if key in UNVERIFIED_FUNCTIONS or _touches_int4(command):
        return True
    return case is not None and case(command)
