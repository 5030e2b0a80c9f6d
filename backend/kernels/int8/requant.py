"""What follows an exact sum of products: the factor to the result's scale, rounding, relu."""

from dataclasses import dataclass

from xdsl_tpu.backend.emitter import Arith, Emitter, Rounding
from xdsl_tpu.backend.tensor import LocalTensor
from xdsl_tpu.dialects.errors import NoKernel
from xdsl_tpu.dialects.tpu.enums import RoundModeAttr

_ROUNDINGS = {"HalfAwayFromZero": Rounding.HALF_AWAY, "HalfUp": Rounding.HALF_UP}


def rounding_of(mode: RoundModeAttr) -> Rounding:
    """The chip's rounding for a mode of the IR; raises TpuError for others than the usual two."""
    name = mode.data.value
    if name not in _ROUNDINGS:
        raise NoKernel(f"round mode {name} has no kernel on integers")
    return _ROUNDINGS[name]


@dataclass(frozen=True, slots=True)
class Factor:
    """result = saturate(round(x * multiplier / 2^shift) + zero), then max(result, 0) if `relu`."""

    multiplier: int
    shift: int
    rounding: Rounding
    relu: bool = False
    zero: int = 0

    def apply(self, emitter: Emitter, out: LocalTensor, total: LocalTensor) -> None:
        """From i32 to 8 bits, EU-aligned tensors of one shape."""
        emitter.requantize(out, total, (self.multiplier, self.shift, self.zero), self.rounding)
        clamp_low(emitter, out, self.relu)


def clamp_low(emitter: Emitter, out: LocalTensor, relu: bool) -> None:
    """max(out, 0) where that changes anything; in place, which is rare enough."""
    if relu and out.dtype.signed:
        emitter.arith(Arith.MAX, out, out, 0)
