"""What follows an exact sum of products: the factor to the result's scale, rounding, relu."""

from collections.abc import Callable
from dataclasses import dataclass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith, Emitter, Rounding, Scale
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

    @property
    def scale(self) -> Scale:
        """What a command makes of its sums, where the chip `requantises`."""
        return Scale((self.multiplier, self.shift, self.zero), self.rounding)

    def apply(self, emitter: Emitter, out: LocalTensor, total: LocalTensor) -> None:
        """From i32 to 8 bits, EU-aligned tensors of one shape."""
        emitter.requantize(out, total, (self.multiplier, self.shift, self.zero), self.rounding)
        clamp_low(emitter, out, self.relu)


def clamp_low(emitter: Emitter, out: LocalTensor, relu: bool) -> None:
    """max(out, 0) where that changes anything; in place, which is rare enough."""
    if relu and out.dtype.signed:
        emitter.arith(Arith.MAX, out, out, 0)


def sums_needed(chip: Chip, has_bias: bool) -> int:
    """Tensors of 32-bit sums that a product of integers needs: none where it `requantises`, else
    one, with bias two."""
    return 0 if chip.instructions.requantises else 1 + int(has_bias)


def scaled_product(
    emitter: Emitter,
    out: LocalTensor,
    operands: tuple[LocalTensor, LocalTensor, bool],
    bias: LocalTensor | None,
    factor: Factor,
    room: Callable[[], LocalTensor],
) -> None:
    """out (1, M, 1, N) = left x right + bias under the scale of the result.

    `operands` are left, right and whether right is transposed, as for `mm2`; `bias` is a row that
    each lane has of its own. `room` gives one tensor (i32, like `out`) after another, as many as
    `sums_needed`.
    """
    left, right, turned = operands
    if emitter.chip.instructions.requantises:
        emitter.mm2(out, left, right, turned, bias=bias, scale=factor.scale)
        clamp_low(emitter, out, factor.relu)
        return
    total = room()
    emitter.mm2(total, left, right, turned)
    if bias is not None:
        summed = room()
        emitter.arith(Arith.ADD_SATURATE, summed, total, bias)
        total = summed
    factor.apply(emitter, out, total)
