"""Values that groups leave in local memory as a whole for those behind them."""

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.local.context import LocalValue
from xdsl_tpu.backend.local.parts import settled
from xdsl_tpu.backend.tensor import LocalTensor, aligned


def kept_whole(part: LocalValue, address: int, chip: Chip) -> LocalTensor:
    """The whole of a value of depth 1 of which there is a slice, from byte `address` of every lane
    on."""
    n, c, _, h, w = part.full
    return aligned(chip, address, (n, c, h, w), part.dtype)


def copy_from_kept(emitter: Emitter, target: LocalValue, address: int) -> None:
    """Bring a slice of a value that lies there to where a group works on it, unless it is there."""
    if not lies_in_place(target, address, emitter.chip):
        emitter.copy(settled(target.tensor, emitter.chip), _place(target, address, emitter.chip))


def lies_in_place(target: LocalValue, address: int, chip: Chip) -> bool:
    """Whether the whole of a value lies there already while a group works on it."""
    whole, tensor = kept_whole(target, address, chip), target.tensor
    return (tensor.address, tensor.shape) == (whole.address, whole.shape)


def copy_to_kept(emitter: Emitter, source: LocalValue, address: int) -> None:
    """Bring a slice to its place in the whole of a value, unless it is there."""
    if not lies_in_place(source, address, emitter.chip):
        emitter.copy(_place(source, address, emitter.chip), settled(source.tensor, emitter.chip))


def _place(part: LocalValue, address: int, chip: Chip) -> LocalTensor:
    start = part.start
    whole = kept_whole(part, address, chip)
    place = whole.window((start.n, start.c, start.h, start.w), part.tensor.shape, chip)
    return settled(place, chip)
