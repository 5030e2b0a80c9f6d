"""What follows a convolution, product or pooling: the relu it carries, the final rounding."""

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import BoolAttr, Float64Type, FloatAttr

from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.tensor import LocalTensor


@dataclass(frozen=True, slots=True)
class Clamp:
    """max(x, 0), below `limit` when that is positive; nothing when `active` is false."""

    active: bool
    limit: float

    @classmethod
    def of(cls, do_relu: BoolAttr, relu_limit: FloatAttr[Float64Type]) -> "Clamp":
        """From the attributes of an op."""
        return cls(bool(do_relu.value.data), relu_limit.value.data)

    @property
    def passes(self) -> int:
        """Element-wise commands that it takes."""
        return 0 if not self.active else 1 if self.limit <= 0 else 2

    def after_conv(self, emitter: Emitter) -> "tuple[bool, Clamp]":
        """Whether a convolution's own command applies the relu, and what is left to do behind."""
        fused = self.active and self.limit <= 0 and emitter.convolves_with_relu
        return fused, Clamp(False, self.limit) if fused else self

    def apply(
        self,
        emitter: Emitter,
        out: LocalTensor,
        scratch: LocalTensor | None,
        produce: Callable[[LocalTensor], None],
    ) -> None:
        """Have `produce` write its result and clamp that into `out`.

        Results never overwrite their operand, which would cost twice the cycles; `scratch`,
        needed when the clamp is active, has the shape of `out`.
        """
        if not self.active or scratch is None:
            produce(out)
            return
        if self.limit <= 0:
            produce(scratch)
        else:
            produce(out)
            emitter.arith(Arith.MIN, scratch, out, self.limit)
        emitter.arith(Arith.MAX, out, scratch, 0.0)


def narrow(emitter: Emitter, out: LocalTensor, total: LocalTensor) -> None:
    """out = an f32 sum in the element type of `out`."""
    if out.dtype is total.dtype:
        emitter.copy(out, total)  # a cast from f32 to f32 would round to whole numbers
    else:
        emitter.cast(out, total)
