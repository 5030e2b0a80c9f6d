"""How much arithmetic a command does, from its fields."""

from dataclasses import dataclass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.isa.codes import MM2, PorD
from xdsl_tpu.backend.timing.tiu_cost import element_bytes

_DEPTHWISE = (PorD.DEPTHWISE, PorD.DEPTHWISE_RELU, PorD.ROI_DEPTHWISE)


@dataclass(frozen=True, slots=True)
class Work:
    """What a TIU command computes.

    `macs` are multiply-accumulates of convolutions and matrix products, of which the part `spread`
    is with zeros between elements of the input; `peak` is how many of
    them the array does per cycle on operands of their width. `operations` counts a
    multiply-accumulate as two, and for every other command one for each element of its result.
    """

    macs: int = 0
    peak: int = 1
    operations: int = 0
    spread: float = 0.0

    @property
    def array_cycles(self) -> float:
        """Cycles for the multiply-accumulates at the array's peak."""
        return self.macs / self.peak


_NONE = Work()


def work_of(command: Command, chip: Chip) -> Work:
    """The work of one command; none for transfers and end markers."""
    if command.engine is not Engine.TIU or command.form.family == "SYSID":
        return _NONE
    count = _macs(command)
    if count is None:
        elements = 1
        for axis in "nchw":
            elements *= command[f"res0_{axis}"]
        return Work(operations=elements)
    peak = chip.array_peak(element_bytes(command, "opd0_prec"))
    return Work(count, peak, 2 * count, _spread(command))


def _spread(command: Command) -> float:
    """What part of an input is zeros between its elements."""
    if command.form.family not in ("CONV", "PorD"):
        return 0.0
    return 1 - 1 / ((command["opd0_y_ins0"] + 1) * (command["opd0_x_ins0"] + 1))


def _macs(command: Command) -> int | None:
    """Multiply-accumulates of a product, None for other commands."""
    n, c, h, w = (command[f"res0_{axis}"] for axis in "nchw")
    taps = command["opd1_h"] * command["opd1_w"]
    match command.form.family:
        case "CONV":
            return n * c * h * w * command["opd0_c"] * taps
        case "PorD" if command.function in _DEPTHWISE:
            return n * c * h * w * taps
        case "MM":
            depth = command["opd0_w"] * (command["opd0_c"] - 1) + command["opd1_w"]
            return command["opd0_n"] * c * w * depth
        case "MM2":
            depth = command["opd1_c"] if command.function == MM2.MM2_NN else command["opd1_w"]
            return c * w * depth
        case _:
            return None
