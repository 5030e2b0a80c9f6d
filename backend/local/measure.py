"""What local kernels and transfers of a slice take, by running them dry.

Nothing here estimates: the commands of a kernel, a Load or a Store are generated as for a program,
and the cycle model says how long each takes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter, Operand
from xdsl_tpu.backend.emitter.queues import Span, T
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.kernels.lanes import View
from xdsl_tpu.backend.kernels.support import DdrValue, dtype_of, where
from xdsl_tpu.backend.leaves import sliced_kernel
from xdsl_tpu.backend.local.context import Form, LocalContext, LocalValue, Scratch
from xdsl_tpu.backend.local.forms import row_form
from xdsl_tpu.backend.local.image import load_pack
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.backend.local.transfer import load_merged, load_slice, store_slice
from xdsl_tpu.backend.local.views import merged_views
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.tensor import DType, LocalTensor, Shape4, aligned, compact
from xdsl_tpu.backend.timing import tiu_cycles, transfer
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import RankedTensor
from xdsl_tpu.dialects.errors import DoesNotFit, NoKernel
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, LocalGen, MergesTaps, Ncdhw
from xdsl_tpu.dialects.top.packs import PackPlace
from xdsl_tpu.dialects.tpu.local import LocalReshape

USUAL_SCRATCH = 16384
"""Scratch per lane that is offered first; kernels that can do with less take less."""

NOWHERE = Ncdhw(0, 0, 0, 0, 0)

Sizes = Callable[[SSAValue], Ncdhw]
"""The sizes of an operand's or result's slice, or where it starts in the whole."""


def from_the_start(value: SSAValue) -> Ncdhw:
    """Where the first slice of everything starts."""
    return NOWHERE


@dataclass(frozen=True, slots=True)
class Measured:
    """Scratch bytes per lane and TIU cycles of an op on one slice."""

    scratch: int
    cycles: int


@dataclass(frozen=True, slots=True)
class Moved:
    """GDMA cycles of a Load, and TIU cycles of what it fills itself (the pads of filter taps)."""

    gdma: float
    tiu: int = 0


class DryEmitter(Emitter):
    """Collects commands without the ids and dependencies that a program needs.

    Commands for places that are alike are made once and counted as often as they would be made.
    """

    def __init__(self, chip: Chip) -> None:
        super().__init__(chip, Program(name="", chip=chip.name, quantize=""))
        self._commands: list[tuple[Command, int]] = []
        self._times = 1

    def alike(self, places: Sequence[T]) -> Iterator[T]:
        """The first place, for which commands count as often as there are places."""
        outer = self._times
        self._times = outer * len(places)
        yield from places[:1]
        self._times = outer

    def _issue(
        self, form: str, fields: dict[str, int], out: LocalTensor, *operands: Operand | None
    ) -> None:
        self.issue(form, fields, (), ())

    def issue(
        self, form: str, fields: dict[str, int], reads: Sequence[Span], writes: Sequence[Span]
    ) -> None:
        """Append the command."""
        self._commands.append((Command(self.forms[form], fields), self._times))

    @property
    def tiu_cycles(self) -> int:
        """What all commands of the TIU take."""
        made = (m for m in self._commands if m[0].engine is Engine.TIU)
        return sum(times * tiu_cycles(command, self.chip) for command, times in made)

    @property
    def gdma_cycles(self) -> int:
        """What all transfers take."""
        made = (m for m in self._commands if m[0].engine is Engine.GDMA)
        return sum(times * transfer(command, self.chip).cycles for command, times in made)


def measure(
    op: Operation,
    sizes: Sizes,
    kind: GroupType,
    chip: Chip,
    starts: Sizes = from_the_start,
    only_stored: bool = False,
    merging: MergesTaps | None = None,
    offered: int = USUAL_SCRATCH,
) -> Measured:
    """Run the kernel of an op on a slice, with as little scratch memory as it can work in, from
    the bytes `offered` upwards. `only_stored`: no other op of the group reads the result.
    `merging`: the op of the group that reads with filter taps as channels what this one makes.

    Raises DoesNotFit when it cannot work on such a slice at all. The op is not changed and needs
    no addresses.
    """
    kernel = sliced_kernel(op)
    if kernel is None:
        raise NoKernel(f"no kernel on slices for {where(op)}")
    base = chip.local_bytes // 2
    while True:
        scratch = Scratch(chip, [(base, base + min(offered, chip.local_bytes))])
        emitter = DryEmitter(chip)
        context = _context(op, (sizes, starts), kind, emitter, scratch)
        if only_stored and isinstance(op, LocalGen) and op.rotation() is not None:
            context = replace(context, out=replace(context.out, form=Form.ROTATED))
        if merging is not None:
            out = _merged(op.results[0], merging, (sizes, starts), chip, 0)
            source = _merged(op.operands[0], merging, (sizes, starts), chip, chip.local_bytes // 4)
            context = replace(context, operands=(source,), out=out)
        try:
            kernel(context)
        except DoesNotFit:
            if offered >= chip.local_bytes:
                raise
            offered *= 2
            continue
        peak = max((end for _, end in scratch.taken), default=base)
        return Measured(peak - base, emitter.tiu_cycles)


def measure_load(
    user: Operation,
    index: int,
    sizes: Sizes,
    kind: GroupType,
    chip: Chip,
    starts: Sizes = from_the_start,
    merging: MergesTaps | None = None,
) -> Moved:
    """What the Load of an operand's slice takes, in the form that its user wants.

    `merging` as in `measure`, and for the input of such a convolution itself.
    """
    value = user.operands[index]
    emitter, source = DryEmitter(chip), _in_ddr(value, chip)
    if merging is not None:
        target = _merged(value, merging, (sizes, starts), chip, 0)
        load_merged(emitter, target, source, _views(merging, (sizes, starts), chip))
    else:
        target = _operand(user, index, (sizes, starts), kind, chip, 0)
        load_slice(emitter, target, source)
    return Moved(emitter.gdma_cycles, emitter.tiu_cycles)


def measure_store(
    value: SSAValue,
    sizes: Sizes,
    kind: GroupType,
    chip: Chip,
    starts: Sizes = from_the_start,
    rotation: int = 0,
) -> int:
    """GDMA cycles of the Store of a value's slice; `rotation` as in `LocalValue`."""
    form = Form.ROTATED if rotation else Form.PLAIN
    full = of_value(value, kind, chip.lanes)
    source = _value(value, (sizes, starts), full, chip, 0, form, rotation=rotation)
    emitter = DryEmitter(chip)
    scratch = Scratch(chip, [(chip.local_bytes // 2, chip.local_bytes)])
    store_slice(emitter, source, _in_ddr(value, chip), scratch)
    return emitter.gdma_cycles


def measure_pack(lane_bytes: int, chip: Chip) -> int:
    """GDMA cycles of a pack with so many bytes for every lane."""
    emitter = DryEmitter(chip)
    load_pack(emitter, 0, chip.ddr_base, PackPlace(0, 0, lane_bytes, lane_bytes * chip.lanes))
    return emitter.gdma_cycles


def _in_ddr(value: SSAValue, chip: Chip) -> DdrValue:
    shape = cast(RankedTensor, value.type).get_shape()
    return DdrValue(chip.ddr_base, shape, _dtype(value))


_Places = tuple[Sizes, Sizes]
"""Sizes and starts of slices."""


def _context(
    op: Operation,
    places: _Places,
    kind: GroupType,
    emitter: Emitter,
    scratch: Scratch,
) -> LocalContext:
    """The op on slices at addresses that only differ; views share theirs."""
    chip = emitter.chip
    operands: list[LocalValue | None] = []
    for index, operand in enumerate(op.operands):
        if isinstance(operand.type, TensorType):
            address = (
                0 if isinstance(op, LocalReshape) else chip.local_bytes // 4 + chip.eu_bytes * index
            )
            operands.append(_operand(op, index, places, kind, chip, address))
        else:
            operands.append(None)
    result = op.results[0]
    out = _value(result, places, of_value(result, kind, chip.lanes), chip, 0)
    return LocalContext(chip, emitter, op, tuple(operands), out, scratch, kind)


def _operand(
    op: Operation,
    index: int,
    places: _Places,
    kind: GroupType,
    chip: Chip,
    address: int,
) -> LocalValue:
    value = op.operands[index]
    full, size = of_value(value, kind, chip.lanes), places[0](value)
    row = row_form(op, index, kind, chip.lanes)
    if row is not None and row.parameter:
        elements = full.n * full.c * full.d * full.h * full.w
        full = size = Ncdhw(1, 1, 1, 1, elements)
    if row is not None:
        shape: Shape4 = (size.n * size.d, chip.lanes, size.h, size.w)
        tensor = aligned(chip, address, shape, _dtype(value))
        start = NOWHERE if row.parameter else places[1](value)
        return LocalValue(tensor, start, full, Form.ROW)
    if isinstance(op, MergesTaps) and index == 0 and any(op.merged_taps()):
        return _merged(value, op, places, chip, address)
    return _value(value, places, full, chip, address, eu_align=not _is_dense(op, index))


def _is_dense(op: Operation, index: int) -> bool:
    """Whether an operand is a weight that lies without alignment."""
    owner = op.operands[index].owner
    if not isinstance(owner, top.WeightOp) or owner.allow_split is not None:
        return False
    return isinstance(op, LocalGen) and index in op.compact_weights()


def _merged(
    value: SSAValue, reader: MergesTaps, places: _Places, chip: Chip, address: int
) -> LocalValue:
    """The operand of an op that merges taps, or what that is made from."""
    rows, columns = _views(reader, places, chip)
    full = of_value(value, GroupType.NORMAL, chip.lanes)
    lanes = full.c * rows.taps * columns.taps
    shape: Shape4 = (places[0](value).n, lanes, rows.count, columns.count)
    tensor = aligned(chip, address, shape, _dtype(value))
    return LocalValue(tensor, places[1](value), full, Form.MERGED)


def _views(reader: MergesTaps, places: _Places, chip: Chip) -> tuple[View, View]:
    sizes, starts = (place(reader.results[0]) for place in places)
    return merged_views(reader, starts, sizes, chip.lanes)


def _value(
    value: SSAValue,
    places: _Places,
    full: Ncdhw,
    chip: Chip,
    address: int,
    form: Form = Form.PLAIN,
    rotation: int = 0,
    eu_align: bool = True,
) -> LocalValue:
    size = places[0](value)
    shape: Shape4 = (size.n * size.d, size.c, size.h, size.w)
    place = aligned if eu_align else compact
    tensor = place(chip, address, shape, _dtype(value))
    return LocalValue(tensor, places[1](value), full, form, rotation, size.d)


def _dtype(value: SSAValue) -> DType:
    return dtype_of(cast(RankedTensor, value.type).element_type)
