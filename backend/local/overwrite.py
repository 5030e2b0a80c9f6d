"""Results that lie where an operand did.

A chain of commands mostly reads an operand for the last time before it writes the first of the
result, or as it writes, element by element. Whether it does is seen from the commands.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Operand
from xdsl_tpu.backend.kernels.support import LocalMemory
from xdsl_tpu.backend.leaves import sliced_kernel
from xdsl_tpu.backend.local.context import Form, LocalContext
from xdsl_tpu.backend.local.dry import DryEmitter, Sizes, context_of
from xdsl_tpu.backend.local.measure import from_the_start
from xdsl_tpu.backend.tensor import LocalTensor
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, LocalGen

APART = 16
"""How many times as much local memory a lane has where nothing lies over anything."""


def measure_over(
    op: Operation, operand: SSAValue, sizes: Sizes, kind: GroupType, chip: Chip, scratch: int
) -> int | None:
    """TIU cycles of an op on a slice with its result over an operand, in so many bytes of scratch
    memory per lane; None when that would change the result, or is not known not to."""
    kernel = sliced_kernel(op)
    place = next((n for n, value in enumerate(op.operands) if value is operand), None)
    if kernel is None or place is None or not (isinstance(op, LocalGen) and op.may_overwrite()):
        return None
    apart = _Witness(replace(chip, local_bytes=APART * chip.local_bytes))
    over = DryEmitter(chip)
    try:
        for emitter, address in ((apart, chip.local_bytes), (over, 0)):
            base = emitter.chip.local_bytes // 2
            memory = LocalMemory(emitter.chip, [(base, base + scratch)])
            context = _moved(
                context_of(op, (sizes, from_the_start), kind, emitter, memory), place, address
            )
            if context is None:
                return None
            kernel(context)
    except DoesNotFit:
        return None
    return over.tiu_cycles if apart.has_read_before(chip.local_bytes) else None


def _moved(context: LocalContext, place: int, address: int) -> LocalContext | None:
    """The same with an operand at an address; None where it does not lie as the result does."""
    operands = list(context.operands)
    own, out = operands[place], context.out.tensor
    if own is None or own.form is not Form.PLAIN:
        return None
    tensor = replace(own.tensor, address=address)
    if not _are_alike(replace(tensor, address=out.address), out):
        return None
    operands[place] = replace(own, tensor=tensor)
    return replace(context, operands=tuple(operands))


def _are_alike(one: LocalTensor, other: LocalTensor) -> bool:
    """Whether elements lie over elements."""
    mine, others = ((x.address, x.shape, x.strides, x.dtype.bytes) for x in (one, other))
    return mine == others


class _Witness(DryEmitter):
    """Remembers what commands read and write; of places that are alike those of the first, as each
    has elements of its own."""

    def __init__(self, chip: Chip) -> None:
        super().__init__(chip)
        self._seen: list[tuple[LocalTensor, tuple[LocalTensor, ...], bool]] = []

    def _issue(
        self, form: str, fields: dict[str, int], out: LocalTensor, *operands: Operand | None
    ) -> None:
        super()._issue(form, fields, out, *operands)
        read = tuple(one for one in operands if isinstance(one, LocalTensor))
        self._seen.append((out, read, self.forms[form].family == "AR"))

    def has_read_before(self, most: int) -> bool:
        """Whether every byte of what lies `most` behind a result of no more at the start has been
        read when commands write into its place there, element by element or earlier."""
        written = np.zeros(most, bool)
        for out, operands, each in self._seen:
            is_result = out.address < most
            own = _bytes(out, self.chip) if is_result else np.zeros(0, np.int64)
            for read in operands:
                if not most <= read.address < 2 * most:
                    continue
                below = replace(read, address=read.address - most)
                here = _bytes(below, self.chip)
                if written[here].any():
                    return False
                if not (each and _are_alike(below, out)) and np.isin(own, here).any():
                    return False
            written[own] = True
        return True


def _bytes(tensor: LocalTensor, chip: Chip) -> npt.NDArray[np.int64]:
    """Those of its lanes that a tensor has."""
    n, _, h, w = tensor.shape
    places = np.zeros(1, np.int64)
    for size, step in zip((n, tensor.groups(chip), h, w), tensor.strides, strict=True):
        places = np.add.outer(places, np.arange(size) * step).ravel()
    size = tensor.dtype.bytes
    each = np.add.outer(np.unique(places) * size, np.arange(size)).ravel()
    return tensor.address % chip.local_bytes + each
