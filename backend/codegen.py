"""From addressed tpu IR to a `Program`."""

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, count

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.barriers import synchronise
from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.chip.identity import figures_of
from xdsl_tpu.backend.ddr_order import ddr_order
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.float_loads import float_loads
from xdsl_tpu.backend.kernels.support import KernelContext, ddr_value, where
from xdsl_tpu.backend.leaves import LEAVES
from xdsl_tpu.backend.local.image import write_image
from xdsl_tpu.backend.program import IoTensor, Program
from xdsl_tpu.backend.tile.build import build, unsupported
from xdsl_tpu.backend.tile.emit import emit
from xdsl_tpu.backend.tile.program import TileProgram
from xdsl_tpu.backend.tile.text import program_of
from xdsl_tpu.backend.tile.verify import check
from xdsl_tpu.backend.value_places import ValuePlace
from xdsl_tpu.dialects import tile, top, tpu
from xdsl_tpu.dialects.absorbed import is_absorbed
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import OpProblem, OpsError, TpuError
from xdsl_tpu.dialects.input_ranges import ranges_of
from xdsl_tpu.dialects.names import layer_of, name_of
from xdsl_tpu.dialects.random_masks import masks_of
from xdsl_tpu.dialects.top.packs import pack_of
from xdsl_tpu.dialects.zeros import zeros_of

SILENT = (
    *(top.NoneOp, top.WeightOp, top.InputOp, tpu.AppendOp, tpu.BufferOp, tpu.JoinOp, ReturnOp),
    tile.ProgramOp,
)
"""Ops that need no commands; of a tile program the group before it has them."""


def generate(
    module: ModuleOp,
    weights: Mapping[str, npt.NDArray[np.generic]],
    chip: Chip,
    places: list[ValuePlace] | None = None,
) -> Program:
    """Emit the commands of an addressed module; `places` gets where each layer's results are.

    Raises TpuError naming every op without a kernel, before any work is done.
    """
    function = _subnet(module)
    inner = function.parent_op()
    if not isinstance(inner, ModuleOp):
        raise TpuError("the subnet function is not inside a module")
    program = Program(
        name=module.sym_name.data if module.sym_name is not None else "model",
        chip=chip.name,
        quantize=_string(module, "module.mode"),
        coefficient_address=_integer(inner, "module.coeff_addr"),
        arena_address=_integer(inner, "module.neuron_addr"),
        arena_bytes=_integer(inner, "module.neuron_size"),
        io_address=_integer(inner, "module.io_addr") if "module.io_addr" in inner.attributes else 0,
        io_bytes=_integer(inner, "module.io_size") if "module.io_size" in inner.attributes else 0,
    )
    _refuse_unsupported(function)
    _check_memory(program, _integer(inner, "module.coeff_size"), chip)
    program.coefficients = coefficient_image(module, weights, chip)
    program.inputs = [_io(argument) for argument in function.body.block.args]
    program.random_masks = masks_of(module)
    program.input_ranges = ranges_of(module)
    program.chip_figures = figures_of(chip)
    _emit(function, program, chip, [] if places is None else places, _cores(module, chip))
    return program


def _emit(
    function: FuncOp, program: Program, chip: Chip, places: list[ValuePlace], count: int
) -> None:
    """The commands of `count` cores, and barriers between them."""
    for _ in range(count - 1):
        program.beside()
    cores = [
        KernelContext(chip, Emitter(chip, core), core=number, cores=count)
        for number, core in enumerate(program.cores)
    ]
    bounds: list[int] = []
    for op in function.body.block.ops:
        if isinstance(op, ReturnOp):
            program.outputs = list(_distinct(map(_io, op.operands)))
        if isinstance(op, SILENT) or is_absorbed(op):
            continue
        if isinstance(op, tpu.GroupOp):
            for context, tiles in zip(cores, _tile_programs(op, chip, count), strict=True):
                for layer, value, local in emit(context, tiles):
                    places.append(ValuePlace(layer, value, local))
        else:
            _emit_alone(cores[0], op, places)
            for context in cores[1:] if cores[0].is_shared else ():
                _emit_alone(context, op, [])
            cores[0].is_shared = False
        bounds.append(len(program.layers))
    for context in cores:
        context.emitter.finish()
    order = ddr_order(program, bounds, chip)
    before = [context.emitter.transfers_before for context in cores]
    queued = float_loads(program.cores, before, order, chip)
    if count > 1:
        synchronise(program, order, queued)


def _tile_programs(group: tpu.GroupOp, chip: Chip, cores: int) -> list[TileProgram]:
    """What each core does for a group: as the text behind it says, else as its ginfo does.

    Raises TpuError for a program that would not compute what the group does.
    """
    found = [program_of(group, chip, core) or build(group, chip, core) for core in range(cores)]
    check(found, chip)
    return found


def _emit_alone(context: KernelContext, op: Operation, places: list[ValuePlace]) -> None:
    """The kernel of an op that works from DDR to DDR."""
    emitter = context.emitter
    with emitter.layer(layer_of(op), op.name, zeros_of(op)), _named(op):
        LEAVES[type(op)].alone(context, op)
    layer = len(emitter.program.layers) - 1
    places += [
        ValuePlace(layer, value, ddr=ddr_value(value)) for value in op.results if not is_none(value)
    ]


@contextmanager
def _named(op: Operation) -> Generator[None]:
    """Errors of a kernel that does not know which op it works for name it."""
    try:
        yield
    except TpuError as error:
        if f"'{name_of(op)}'" in str(error):
            raise
        raise TpuError(f"{where(op)}: {error}") from error


def _refuse_unsupported(function: FuncOp) -> None:
    missing: list[Operation] = []
    for op in function.body.block.ops:
        if isinstance(op, tpu.GroupOp):
            missing += unsupported(op)
        elif isinstance(op, tile.ProgramOp):
            if not isinstance(op.prev_op, tpu.GroupOp | tile.ProgramOp):
                raise TpuError("a tile.program must stand behind the tpu.Group that it is for")
        elif type(op) not in LEAVES and not isinstance(op, SILENT):
            missing.append(op)
    if missing:
        problems = [OpProblem(op.name, name_of(op) or "", "no kernel") for op in missing]
        raise OpsError(f"no kernel for {len(missing)} op(s)", problems)


def _check_memory(program: Program, coefficient_bytes: int, chip: Chip) -> None:
    """Coefficients and arena must lie in the chip's DDR."""
    for what, address, size in (
        ("coefficients", program.coefficient_address, coefficient_bytes),
        ("activations", program.arena_address, program.arena_bytes),
    ):
        if not chip.in_ddr(address, size):
            raise TpuError(
                f"{program.name}: {size} bytes of {what} at {address:#x} are not within the "
                f"{chip.ddr_bytes} bytes of DDR that {chip.name} has from {chip.ddr_base:#x} on"
            )


def coefficient_image(
    module: ModuleOp, weights: Mapping[str, npt.NDArray[np.generic]], chip: Chip
) -> npt.NDArray[np.uint8]:
    """All weights of an addressed module at their addresses, relative to the coefficient base.

    Raises TpuError for one that has another size in `weights`.
    """
    function = _subnet(module)
    inner = function.parent_op()
    assert isinstance(inner, ModuleOp)
    base = _integer(inner, "module.coeff_addr")
    image = np.zeros(_integer(inner, "module.coeff_size"), np.uint8)
    for op in function.body.block.ops:
        if not isinstance(op, top.WeightOp):
            continue
        place = ddr_value(op.results[0])
        pack = pack_of(op)
        if pack is not None:
            start = place.address - pack.offset - base
            lanes = image[start : start + pack.total_bytes].reshape(-1, pack.lane_bytes)
            write_image(lanes, pack.offset, op.output, weights[name_of(op) or ""], chip)
            continue
        data = np.ascontiguousarray(weights[name_of(op) or ""]).view(np.uint8).reshape(-1)
        expected = place.elements * place.dtype.bytes
        if data.size != expected:
            raise TpuError(
                f"weight '{name_of(op)}': {data.size} bytes in the weight file, "
                f"{expected} in the IR; was the file written by the same passes?"
            )
        image[place.address - base : place.address - base + data.size] = data
    return image


def _subnet(module: ModuleOp) -> FuncOp:
    """The one function that holds the network."""
    functions = [op for op in module.walk() if isinstance(op, FuncOp)]
    subnets = [f for f in functions if f.sym_name.data.startswith("subfunc_")] or functions
    if len(subnets) != 1:
        names = ", ".join(f.sym_name.data for f in subnets)
        raise TpuError(f"one subnet function expected, found {len(subnets)}: {names}")
    return subnets[0]


def _io(value: SSAValue) -> IoTensor:
    place = ddr_value(value)
    return IoTensor(name_of(value) or "", place.address, place.shape, place.dtype)


def _distinct(tensors: Iterable[IoTensor]) -> Iterator[IoTensor]:
    """A tensor that is a result twice gets another name the second time: callers go by names."""
    taken: set[str] = set()
    for tensor in tensors:
        names = (f"{tensor.name}_{number}" for number in count(1))
        name = next(name for name in chain((tensor.name,), names) if name not in taken)
        taken.add(name)
        yield replace(tensor, name=name)


def _integer(op: Operation, name: str) -> int:
    attribute = op.attributes.get(name)
    if not isinstance(attribute, IntegerAttr):
        raise TpuError(f"the module has no '{name}': run --address-assign first")
    return attribute.value.data


def _cores(module: ModuleOp, chip: Chip) -> int:
    """The cores that a module is for; raises TpuError when the chip has fewer."""
    count = _integer(module, "module.cores") if "module.cores" in module.attributes else 1
    if count > chip.cores:
        raise TpuError(f"the module is for {count} cores, {chip.name} has {chip.cores}")
    return count


def _string(op: Operation, name: str) -> str:
    attribute = op.attributes.get(name)
    return attribute.data if isinstance(attribute, StringAttr) else ""
