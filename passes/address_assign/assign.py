"""The pass `address-assign`."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, TensorType, i64
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_integer_attr, is_ranked_tensor
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.top.packs import pack_of
from xdsl_tpu.passes.address_assign.io import (
    TAGGED,
    IoLayout,
    io_layout,
    io_rooms,
    is_apart,
    keeps_inputs,
    kept_layout,
    tagged_layout,
)
from xdsl_tpu.passes.address_assign.lifetimes import lifetimes
from xdsl_tpu.passes.address_assign.planner import ALIGNMENT_BYTES, PAGE_BYTES, align_up, plan
from xdsl_tpu.passes.address_assign.views import place_of, root_of, under_another_shape
from xdsl_tpu.passes.layer_group.image_rooms import room_in_ddr
from xdsl_tpu.passes.module_state import (
    State,
    chip_of,
    name_weight_file,
    require_state,
    set_module_attributes,
    text_attribute,
)
from xdsl_tpu.passes.tensors import size_in_bytes, tensor_type
from xdsl_tpu.passes.types import set_type

WEIGHT_AND_BIAS = (tpu.Conv2DOp, tpu.MatMulOp)
"""Ops whose operands 1 and 2 `path` calls weight and bias; elsewhere it gives the number."""


@dataclass(frozen=True)
class AddressAssignPass(ModulePass):
    """Give every tensor its address in the chip's DDR.

    Coefficients come first, each at a multiple of `coeff_alignment`, in program order. Behind them
    lies the arena of the activations, at multiples of `alignment`. Tensors that are never needed at
    the same time share its bytes, and what `tpu.Join` joins lies in its result; with
    `reuse_addr=false` every tensor survives to the end, for looking at all of them after a run. The
    sizes are recorded on the inner module.

        %1 = Conv2D(%0) : tensor<1x8xf16>  ->  %1 = Conv2D(%0) : tensor<1x8xf16, 4294971392>

    `chip`, a name or a `.toml` description, by default `module.chip`, says where DDR begins, or
    where in it coefficients and activations do. Where it has places for inputs and outputs, those
    lie there, one each (`module.addr_mode` becomes io_tag); what is more than there are places, in
    the arena.

    Where `module.addr_mode` is io_alone, what the function takes and gives lies between the two,
    page by page in order, and what `tpu.Append` appends right behind its input (`io_layout`); in
    places as large as `module.io_rooms` says, so that other modules may have the same ones.
    Where the module has `module.kept_inputs`, the arena begins with what the function takes, page
    by page in order, and nothing else is ever put there: hosts that write the mask of a prompt for
    the first block of a model find it there for all others, whose arenas begin alike.
    Coefficients of language models come in the order of their names, so that nets with the same
    weights have the same image.
    """

    name = "address-assign"

    reuse_addr: bool = True
    coeff_alignment: int = PAGE_BYTES
    alignment: int = ALIGNMENT_BYTES
    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TPU_DIVIDED, self.name)
        for option in ("coeff_alignment", "alignment"):
            if getattr(self, option) < ALIGNMENT_BYTES or getattr(self, option) % ALIGNMENT_BYTES:
                raise TpuError(f"{self.name}: {option} must be a multiple of {ALIGNMENT_BYTES}")
        inner, main, subfunc = divided_parts(op)
        chip = chip_of(op, self.chip)
        base = chip.ddr_base
        by_name = text_attribute(op, "module.platform") == "LLM"
        coeff_size = self._place_coefficients(subfunc, base, by_name)
        io, io_address, kept = IoLayout(), 0, 0
        if is_apart(op):
            io = io_layout(subfunc, io_rooms(op))
            io_address = chip.io_base or base + coeff_size
        elif chip.io_bases:
            io = tagged_layout(subfunc, chip.io_bases)
            set_module_attributes(op, {"module.addr_mode": StringAttr(TAGGED)})
        arena_address = chip.arena_base or base + coeff_size + io.size
        if not io.offsets and keeps_inputs(op):
            io, io_address = kept_layout(subfunc), arena_address
            kept = io.size
        arena_size = kept + self._place_activations(
            subfunc, chip, io_address, io, arena_address + kept
        )
        subfunc.update_function_type()
        _copy_addresses_to_caller(main, subfunc)
        sizes = _sizes(base, coeff_size, arena_address, arena_size)
        if io.size > kept:
            sizes |= {"module.io_addr": io_address, "module.io_size": io.size}
        set_module_attributes(inner, {key: IntegerAttr(size, i64) for key, size in sizes.items()})
        set_module_attributes(op, {"module.state": StringAttr(State.TPU_ADDRESSED)})
        name_weight_file(op, "tpu_addressed")

    def _place_coefficients(self, subfunc: FuncOp, base: int, by_name: bool) -> int:
        address = base
        packs: dict[int, int] = {}
        weights = [op for op in subfunc.body.block.ops if isinstance(op, top.WeightOp)]
        for op in sorted(weights, key=lambda one: name_of(one) or "") if by_name else weights:
            op.attributes = dict(sorted({**op.attributes, "path": _path(op)}.items()))
            pack = pack_of(op)
            if pack is not None and pack.number in packs:
                _set_address(op.output, packs[pack.number] + pack.offset)
                continue
            size = size_in_bytes(op.output)
            if pack is not None:
                packs[pack.number] = address
                size = pack.total_bytes
            _set_address(op.output, address + (pack.offset if pack is not None else 0))
            address = align_up(address + size, self.coeff_alignment)
        return align_up(address, PAGE_BYTES) - base

    def _place_activations(
        self, subfunc: FuncOp, chip: Chip, io_address: int, io: IoLayout, arena_address: int
    ) -> int:
        """Address everything else; gives the arena's bytes before rounding to pages."""
        live = lifetimes(subfunc, io.offsets, partial(room_in_ddr, chip=chip))
        buffers = (
            live.buffers if self.reuse_addr else [replace(b, always=True) for b in live.buffers]
        )
        layout = plan(buffers, self.alignment)
        for value, offset in io.offsets.items():
            _set_address(value, io_address + offset)
        for value, offset in zip(live.values, layout.offsets, strict=True):
            _set_address(value, arena_address + offset)
        for op in list(subfunc.body.block.ops):
            for result in op.results:
                if place_of(result) is not None:
                    view = root_of(result)
                    _set_address(result, address_of(view.source) + view.offset)
            if isinstance(op, tpu.GroupOp):
                _address_stores(op)
        return layout.used


def _address_stores(group: tpu.GroupOp) -> None:
    """What a group stores lies where its results do."""
    last = group.body.block.last_op
    assert last is not None
    for stored, result in zip(last.operands, group.outputs, strict=True):
        set_type(stored, result.type)


def divided_parts(module: ModuleOp) -> tuple[ModuleOp, FuncOp, FuncOp]:
    """The inner module, `@main` and `@subfunc_0` of a divided module."""
    inner = next((op for op in module.body.block.ops if isinstance(op, ModuleOp)), None)
    if inner is None:
        raise TpuError("the module is not divided: run --subnet-divide first")
    named = {op.sym_name.data: op for op in inner.body.block.ops if isinstance(op, FuncOp)}
    if set(named) != {"main", "subfunc_0"}:
        raise TpuError(f"expected @main and @subfunc_0, found {', '.join(sorted(named))}")
    return inner, named["main"], named["subfunc_0"]


def address_of(value: SSAValue) -> int:
    """The address in the type of `value`; TpuError when it has none."""
    address = optional_address(value)
    if address is None:
        raise TpuError(f"a value of type {value.type} has no address")
    return address


def optional_address(value: SSAValue) -> int | None:
    """The address in the type of `value`; None when there is none."""
    kind = value.type
    if not is_ranked_tensor(kind) or not is_integer_attr(kind.encoding):
        return None
    return kind.encoding.value.data


def _set_address(value: SSAValue, address: int) -> None:
    old = tensor_type(value)
    set_type(value, TensorType(old.element_type, old.get_shape(), IntegerAttr(address, i64)))


def move_to(value: SSAValue, address: int) -> None:
    """Give a value another address; what a group stores, its Store, and views of it go with it."""
    old = address_of(value)
    affected = [value]
    for one in affected:
        joined = one.owner.inputs if isinstance(one.owner, tpu.JoinOp) else ()
        parts = map(under_another_shape, joined)
        readers = (result for use in one.uses for result in use.operation.results)
        for other in (*parts, *readers):
            if (view := place_of(other)) is not None and view.source is one:
                affected.append(other)
    for one in affected:
        _set_address(one, address_of(one) - old + address)
    for one in affected:
        if isinstance(one.owner, tpu.GroupOp):
            _address_stores(one.owner)


def _path(weight: top.WeightOp) -> StringAttr:
    """Which operand of which kind of op the weight is, such as `tpu.Conv2D.bias`."""
    use = weight.output.first_use
    if use is None:
        return StringAttr("")
    named = isinstance(use.operation, WEIGHT_AND_BIAS)
    operand = {1: "weight", 2: "bias"}.get(use.index, use.index) if named else use.index
    return StringAttr(f"{use.operation.name}.{operand}")


def _copy_addresses_to_caller(main: FuncOp, subfunc: FuncOp) -> None:
    call = next(op for op in main.body.block.ops if isinstance(op, CallOp))
    _copy_types(call.arguments, subfunc.body.block.args)
    returned = subfunc.body.block.last_op
    assert returned is not None
    _copy_types(call.results, returned.operands)
    main.update_function_type()


def _copy_types(targets: Iterable[SSAValue], sources: Iterable[SSAValue]) -> None:
    for target, source in zip(tuple(targets), tuple(sources), strict=True):
        set_type(target, source.type)


def _sizes(base: int, coeff_size: int, arena_address: int, arena_size: int) -> dict[str, int]:
    return {
        "module.coeff_addr": base,
        "module.coeff_size": coeff_size,
        "module.dynamic_coeff_offset": coeff_size,
        "module.neuron_addr": arena_address,
        "module.neuron_size": align_up(arena_size, PAGE_BYTES),
    }
