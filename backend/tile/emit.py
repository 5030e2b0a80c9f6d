"""From a tile program to commands.

What must wait for what follows from the local memory that commands touch, as everywhere in the
emitter; the program only says in which order they are issued and where everything lies.
"""

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.support import KernelContext, ddr_value, where
from xdsl_tpu.backend.leaves import sliced_kernel
from xdsl_tpu.backend.local.context import LocalContext, LocalValue, Scratch
from xdsl_tpu.backend.local.gather import Reading, load_gathered, reading
from xdsl_tpu.backend.local.gather_rows import load_rows
from xdsl_tpu.backend.local.image import load_pack, packed
from xdsl_tpu.backend.local.lane_image import load_image, store_image
from xdsl_tpu.backend.local.schedule import is_held
from xdsl_tpu.backend.local.transfer import load_merged, load_slice, store_slice
from xdsl_tpu.backend.tile.program import Compute, Load, Store, TileProgram
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.top.packs import pack_of

SlicePlace = tuple[int, SSAValue, LocalValue]
"""An entry of `Program.layers`, its result, and the slice of it that is then in local memory."""

TRANSFERS = (tpu.LoadOp, tpu.StoreOp, tpu.YieldOp)


def unsupported(group: tpu.GroupOp) -> list[Operation]:
    """The ops of a group that have no local kernel."""
    inside = group.body.block.ops
    return [op for op in inside if not isinstance(op, TRANSFERS) and sliced_kernel(op) is None]


def emit(context: KernelContext, program: TileProgram) -> Iterator[SlicePlace]:
    """Issue the commands of a tile program; yields where the result of each layer is.

    Raises TpuError naming the op whose kernel cannot work on its slice or in its scratch.
    """
    emitter = context.emitter
    for step in program.steps:
        if isinstance(step, Load):
            _load(emitter, step)
        elif isinstance(step, Store):
            _store(emitter, step)
        else:
            _compute(emitter, program, step)
            yield len(emitter.program.layers) - 1, step.out.value, step.out.place


def _load(emitter: Emitter, step: Load) -> None:
    op, target = step.op, step.targets[0].place
    weight = packed(op)
    read = reading(op.input)
    owner = _served(op, read)
    with emitter.layer(name_of(owner) or "", owner.name):
        if weight is not None:
            pack = pack_of(weight)
            assert pack is not None
            own = next(one.place for one in step.targets if one.value is op.output)
            base = ddr_value(op.input).address - pack.offset
            load_pack(emitter, own.tensor.address - pack.offset, base, pack)
        elif step.taps is not None:
            load_merged(emitter, target, ddr_value(op.input), step.taps)
        elif read is not None and read.rows is not None:
            table, index = ddr_value(read.rows.table), ddr_value(read.rows.index)
            load_rows(emitter, target, table, index)
        elif read is not None:
            load_gathered(emitter, target, ddr_value(read.source), read.moves)
        elif op.indexing_map_s2l is not None:
            load_image(emitter, target, ddr_value(op.input))
        else:
            load_slice(emitter, target, ddr_value(op.input))


def _served(op: tpu.LoadOp, read: Reading | None) -> Operation:
    """The op whose layer a load belongs to: of weights the reader, of picked rows the picker."""
    if read is not None and read.picker is not None:
        return read.picker
    if is_held(op) or packed(op) is not None:
        return next((use.operation for use in op.output.uses), op)
    return op


def _store(emitter: Emitter, step: Store) -> None:
    op, chip, source = step.op, emitter.chip, step.source.place
    for axis in ("h", "w"):
        source = source.behind(axis, getattr(step.start, axis), chip)
    with emitter.layer(name_of(op) or "", op.name):
        if op.indexing_map_l2s is not None:
            store_image(emitter, source, ddr_value(op.output))
        elif all(source.tensor.shape):
            store_slice(emitter, source, ddr_value(op.output), Scratch(chip, step.free))


def _compute(emitter: Emitter, program: TileProgram, step: Compute) -> None:
    op, chip = step.op, emitter.chip
    own = step.free if step.own is None else (step.own,)
    scratch = Scratch(chip, own, () if step.own is None else step.free, step.free)
    operands = tuple(None if one is None else one.place for one in step.operands)
    context = LocalContext(chip, emitter, op, operands, step.out.place, scratch, program.kind)
    kernel = sliced_kernel(op)
    assert kernel is not None, f"{op.name} has passed `unsupported`"
    with emitter.layer(name_of(op) or "", op.name):
        try:
            kernel(context)
        except TpuError as error:
            raise TpuError(f"{where(op)}, slice {step.slice} of its group: {error}") from error
