"""The pass `verify-addresses`."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.first_fit import clashes
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.absorbed import absorbed_owner
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.top.packs import pack_of
from xdsl_tpu.passes.address_assign.assign import divided_parts, optional_address
from xdsl_tpu.passes.address_assign.io import (
    IoLayout,
    io_layout,
    is_apart,
    is_tagged,
    tagged_values,
)
from xdsl_tpu.passes.address_assign.lifetimes import lifetimes
from xdsl_tpu.passes.address_assign.planner import ALIGNMENT_BYTES
from xdsl_tpu.passes.address_assign.views import part_of, place_of, root_of, view_of
from xdsl_tpu.passes.layer_group.image_rooms import room_in_ddr
from xdsl_tpu.passes.module_state import State, chip_of, require_state
from xdsl_tpu.passes.tensors import element_bytes, required_name, size_in_bytes


@dataclass(frozen=True)
class Region:
    """A range of DDR: `size` bytes from `start`."""

    what: str
    start: int
    size: int

    def holds(self, address: int, size: int) -> bool:
        return self.start <= address and address + size <= self.start + self.size


@dataclass(frozen=True)
class VerifyAddressesPass(ModulePass):
    """Prove that the addresses in the IR are safe.

    Every tensor has an address, aligned and inside the coefficients, the arena or, for inputs and
    outputs that lie apart, their region; coefficients do not overlap, nor do tensors that lie
    apart; what is appended lies right behind its input; no two tensors that are live at the same
    step share a byte, unless one is a view of the other. Lifetimes are computed anew. All faults
    found are reported.

    `chip`, a name or a `.toml` description, by default `module.chip`, says how wide lanes are:
    what a group stores lane by lane has gaps between its rows.
    """

    name = "verify-addresses"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TPU_ADDRESSED, self.name)
        faults = list(address_faults(op, chip_of(op, self.chip)))
        if faults:
            listed = "".join(f"\n  {fault}" for fault in faults)
            raise TpuError(f"{len(faults)} addresses are wrong:{listed}")


def address_faults(module: ModuleOp, chip: Chip) -> Iterator[str]:
    """One line for everything that is wrong with the addresses of a divided module."""
    inner, main, subfunc = divided_parts(module)
    missing = [value for value in _tensors(subfunc) if optional_address(value) is None]
    if missing:
        yield from (f"tensor '{required_name(value)}' has no address" for value in missing)
        return
    yield from _caller_faults(main, subfunc)
    coefficients = _region(inner, "coefficients", "coeff")
    arena = _region(inner, "arena", "neuron")
    io, apart = arena, IoLayout().offsets
    if is_apart(module):
        io, apart = _region(inner, "inputs and outputs", "io"), io_layout(subfunc).offsets
    elif is_tagged(module):
        apart = tagged_values(subfunc, arena.start, arena.size).offsets
        io = Region("inputs and outputs", 0, 1 << 63)
    yield from _placement_faults(subfunc, chip, coefficients, arena, io, apart)
    yield from _coefficient_faults(subfunc)
    yield from _apart_faults(subfunc, apart)
    live = lifetimes(subfunc, apart, partial(room_in_ddr, chip=chip))
    for first, second in clashes(live.buffers, [_address(value) for value in live.values]):
        yield (
            f"tensors '{first.key}' (steps {first.first} to {first.last}) and '{second.key}' "
            f"(steps {second.first} to {second.last}) share bytes while both are needed"
        )


def _tensors(func: FuncOp) -> Iterator[SSAValue]:
    yield from func.body.block.args
    for op in func.body.block.ops:
        yield from (result for result in op.results if isinstance(result.type, TensorType))


def _address(value: SSAValue) -> int:
    address = optional_address(value)
    assert address is not None
    return address


def _region(module: ModuleOp, what: str, prefix: str) -> Region:
    numbers: list[int] = []
    for key in (f"module.{prefix}_addr", f"module.{prefix}_size"):
        attribute = module.attributes.get(key)
        if not isinstance(attribute, IntegerAttr):
            raise TpuError(f"the inner module has no {key}: run --address-assign first")
        numbers.append(attribute.value.data)
    return Region(what, *numbers)


def _apart_faults(subfunc: FuncOp, apart: Collection[SSAValue]) -> Iterator[str]:
    """Tensors that lie apart live all the time; those that are appended begin where others end."""
    by_address = sorted(apart, key=_address)
    for lower, upper in pairwise(by_address):
        if _address(lower) + size_in_bytes(lower) > _address(upper):
            yield f"tensors '{required_name(lower)}' and '{required_name(upper)}' share bytes"
    for op in subfunc.body.block.ops:
        if isinstance(op, tpu.AppendOp):
            end = _address(op.input) + size_in_bytes(op.input)
            if _address(op.behind) != end:
                behind, before = required_name(op.behind), required_name(op.input)
                yield f"tensor '{behind}' does not lie right behind '{before}'"


def _placement_faults(
    subfunc: FuncOp,
    chip: Chip,
    coefficients: Region,
    arena: Region,
    io: Region,
    apart: Collection[SSAValue],
) -> Iterator[str]:
    """Alignment, the region of each tensor, and views that have left their source."""
    for value in _tensors(subfunc):
        name, address, view = required_name(value), _address(value), root_of(value)
        if place_of(value) is not None and address != _address(view.source) + view.offset:
            source, what = required_name(view.source), "view" if view_of(value) else "part"
            yield f"tensor '{name}' is a {what} of '{source}' but starts elsewhere"
            continue
        if isinstance(value.owner, tpu.JoinOp):
            yield from _part_faults(value.owner)
        weight = isinstance(view.source.owner, top.WeightOp)
        region = coefficients if weight else io if view.source in apart else arena
        unit = ALIGNMENT_BYTES if part_of(value) is None else element_bytes(value)
        if address % unit:
            yield f"tensor '{name}' at {address:#x} is not aligned to {unit} bytes"
        if not region.holds(address, _extent(value, chip)):
            yield f"tensor '{name}' at {address:#x} is not inside the {region.what}"


def _part_faults(join: tpu.JoinOp) -> Iterator[str]:
    """Parts that do not lie one behind the other in what they are parts of."""
    address = _address(join.output)
    for part in join.inputs:
        if _address(part) != address:
            whole = required_name(join.output)
            yield f"tensor '{required_name(part)}' is a part of '{whole}' but starts elsewhere"
        address += size_in_bytes(part)


def _extent(value: SSAValue, chip: Chip) -> int:
    """Bytes from a value's address on that are its own or its pack's.

    Whoever reads the result of an absorbed op reads the op's operand, however large the result is:
    a Gather may pick rows several times.
    """
    seen = value
    while (view := view_of(seen)) is not None:
        if absorbed_owner(seen) is not None:
            return _extent(view.source, chip)
        seen = view.source
    pack = pack_of(value.owner) if isinstance(value.owner, top.WeightOp) else None
    return room_in_ddr(value, chip) if pack is None else pack.total_bytes - pack.offset


def _coefficient_faults(subfunc: FuncOp) -> Iterator[str]:
    """Coefficients are live all the time, so neighbours by address tell; a pack counts as one."""
    extents: dict[int, tuple[int, SSAValue]] = {}
    for op in subfunc.body.block.ops:
        if not isinstance(op, top.WeightOp):
            continue
        start, size = _address(op.output), size_in_bytes(op.output)
        pack = pack_of(op)
        if pack is not None:
            start, size = start - pack.offset, pack.total_bytes
            if pack.offset >= pack.lane_bytes:
                yield f"weight '{required_name(op.output)}' lies outside its pack"
            if extents.get(start, (size, op.output))[0] != size:
                yield f"the pack of weight '{required_name(op.output)}' shares bytes with another"
        elif start in extents:
            other = required_name(extents[start][1])
            yield f"coefficients '{other}' and '{required_name(op.output)}' share bytes"
        extents[start] = (size, op.output)
    for (low, (size, lower)), (high, (_, upper)) in pairwise(sorted(extents.items())):
        if low + size > high:
            yield f"coefficients '{required_name(lower)}' and '{required_name(upper)}' share bytes"


def _caller_faults(main: FuncOp, subfunc: FuncOp) -> Iterator[str]:
    inputs = [op.output for op in main.body.block.ops if isinstance(op, top.InputOp)]
    for outer, inner in zip(inputs, subfunc.body.block.args, strict=True):
        if outer.type != inner.type:
            yield f"input '{required_name(outer)}' has another address in @main than in @subfunc_0"
    if main.function_type.outputs != subfunc.function_type.outputs:
        yield "@main returns other types or addresses than @subfunc_0"
