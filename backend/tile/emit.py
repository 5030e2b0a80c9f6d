"""From a tile program to commands.

What must wait for what follows from the local memory that commands touch, as everywhere in the
emitter; the program only says in which order they are issued and where everything lies.
"""

import math
from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.support import KernelContext, LocalMemory, ddr_value, where
from xdsl_tpu.backend.kernels.tables import is_turned, load_table
from xdsl_tpu.backend.local.context import LocalContext, LocalValue, Partial
from xdsl_tpu.backend.local.forms import has_coefficients
from xdsl_tpu.backend.local.gather import image_of, load_gathered, reading
from xdsl_tpu.backend.local.gather_rows import load_rows
from xdsl_tpu.backend.local.image import load_pack, packed
from xdsl_tpu.backend.local.int8_conv import load_coefficients, loads_in_parts
from xdsl_tpu.backend.local.kept import copy_from_kept, copy_to_kept
from xdsl_tpu.backend.local.lane_image import load_image, store_image
from xdsl_tpu.backend.local.mapped import mapped
from xdsl_tpu.backend.local.schedule import is_held
from xdsl_tpu.backend.local.transfer import load_merged, load_slice, store_slice
from xdsl_tpu.backend.tensor import Layout
from xdsl_tpu.backend.tile.program import Compute, Load, Step, Store, TileProgram
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen
from xdsl_tpu.dialects.names import layer_of
from xdsl_tpu.dialects.top.packs import pack_of
from xdsl_tpu.dialects.zeros import zeros_of

SlicePlace = tuple[int, SSAValue, LocalValue]
"""An entry of `Program.layers`, its result, and the slice of it that is then in local memory."""


def emit(context: KernelContext, program: TileProgram) -> Iterator[SlicePlace]:
    """Issue the commands of a group's tile program, each step's as a layer of its own; yields where
    the result of each is.

    Raises TpuError naming the op whose kernel cannot work on its slice or in its scratch.
    """
    emitter = context.emitter
    for step in program.steps:
        owner = _served(step) if isinstance(step, Load) else step.op
        with emitter.layer(layer_of(owner), owner.name, zeros_of(owner)):
            try:
                issue(emitter, step)
            except TpuError as error:
                if not isinstance(step, Compute):
                    raise
                at = f"{where(owner)}, slice {step.slice} of its group"
                raise TpuError(f"{at}: {error}") from error
        if isinstance(step, Compute):
            yield len(emitter.program.layers) - 1, step.out.value, step.out.place


def issue(emitter: Emitter, step: Step) -> None:
    """The commands of one step."""
    if isinstance(step, Load):
        _load(emitter, step)
    elif isinstance(step, Store):
        _store(emitter, step)
    else:
        _compute(emitter, step)


def _load(emitter: Emitter, step: Load) -> None:
    target = step.targets[0].place
    weight, read = _packed(step), reading(step.source)
    if step.kept is not None:
        copy_from_kept(emitter, target, step.kept)
    elif weight is not None:
        _load_pack(emitter, step, weight)
    elif step.taps is not None:
        load_merged(emitter, target, image_of(step.source, target.full), step.taps)
    elif (conv := _quantised(step, emitter.chip)) is not None:
        load_coefficients(emitter, conv, target, ddr_value(step.source))
    elif read is not None and read.rows is not None:
        table, index = ddr_value(read.rows.table), ddr_value(read.rows.index)
        load_rows(emitter, target, table, index)
    elif isinstance(step.op, tpu.LoadOp) and step.op.reads_elsewhere:
        load_slice(emitter, target, mapped(step.op, ddr_value(step.source)))
    elif isinstance(step.op, tpu.LoadOp) and step.op.indexing_map_s2l is not None:
        load_image(emitter, target, ddr_value(step.source))
    elif read is not None:
        load_gathered(emitter, target, ddr_value(read.source), read.moves)
    elif (memory := _room_to_turn(step, emitter.chip)) is not None:
        table = ddr_value(step.source).as4(target.tensor.shape)
        load_table(emitter, memory, target.tensor.address, table)
    else:
        load_slice(emitter, target, ddr_value(step.source), _is_summed(step))


def _is_summed(step: Load) -> bool:
    """Whether a matrix of a product by itself is loaded: none of it is of use without the rest."""
    op = step.op
    if isinstance(op, tpu.LoadOp) or not isinstance(op, LocalGen):
        return False
    if "k" not in op.cut_alone():
        return False
    return any(x is step.source and "k" in op.loops(i) for i, x in enumerate(op.operands))


def _room_to_turn(step: Load, chip: Chip) -> LocalMemory | None:
    """Memory in which a table turns that is best loaded so; None for all else."""
    target = step.targets[0].place
    if target.tensor.layout is not Layout.COMPACT or not step.free or not _is_whole(target):
        return None
    memory = LocalMemory(chip, [(step.free[0][0], chip.local_bytes)])
    table = ddr_value(step.source).as4(target.tensor.shape)
    return memory if is_turned(chip, table, memory.largest) else None


def _is_whole(target: LocalValue) -> bool:
    return math.prod(target.tensor.shape) == math.prod(target.full)


def _packed(step: Load) -> top.WeightOp | None:
    """The weight that is loaded, when it is in a pack."""
    return packed(step.op) if isinstance(step.op, tpu.LoadOp) else None


def _load_pack(emitter: Emitter, step: Load, weight: top.WeightOp) -> None:
    pack = pack_of(weight)
    assert pack is not None
    own = next(one.place for one in step.targets if one.value is step.op.results[0])
    base = ddr_value(step.source).address - pack.offset
    load_pack(emitter, own.tensor.address - pack.offset, base, pack)


def _served(step: Load) -> Operation:
    """The op whose layer a load belongs to: of weights the reader, of picked rows the picker."""
    read = reading(step.source)
    if read is not None and read.picker is not None:
        return read.picker
    if is_held(step.op) or _packed(step) is not None:
        return _reader(step.op)
    return step.op


def _quantised(step: Load, chip: Chip) -> Operation | None:
    """The convolution whose merged coefficients a step loads part by part."""
    op, target = _reader(step.op) if isinstance(step.op, tpu.LoadOp) else step.op, step.targets[0]
    is_filter = has_coefficients(op, 1) and op.operands[1] is target.value
    return op if is_filter and loads_in_parts(op, target.place, chip) else None


def _reader(load: Operation) -> Operation:
    """The op that reads what a Load brings."""
    return next((use.operation for use in load.results[0].uses), load)


def _store(emitter: Emitter, step: Store) -> None:
    op, chip, source = step.op, emitter.chip, step.source.place
    if step.kept is not None:
        copy_to_kept(emitter, source, step.kept)
        return
    for axis in ("h", "w"):
        source = source.behind(axis, getattr(step.start, axis), chip)
    if isinstance(op, tpu.StoreOp) and op.indexing_map_l2s is not None:
        store_image(emitter, source, ddr_value(step.target))
    elif all(source.tensor.shape):
        store_slice(emitter, source, ddr_value(step.target), LocalMemory(chip, step.free))


def _compute(emitter: Emitter, step: Compute) -> None:
    chip = emitter.chip
    own = step.free if step.own is None else (step.own,)
    scratch = LocalMemory(chip, own, () if step.own is None else step.free)
    operands = tuple(None if one is None else one.place for one in step.operands)
    partial = None
    if (part := step.sum) is not None:
        partial = Partial(part.buffer.place.tensor, part.is_first, part.is_last)
    before = None if step.before is None else step.before.place
    out = step.out.place
    step.kernel(LocalContext(chip, emitter, step.op, operands, out, scratch, partial, before))
