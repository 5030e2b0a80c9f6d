"""The pass `cut-final-mlir`."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, NoneType, StringAttr, i64
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_integer_attr
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import name_loc, name_of
from xdsl_tpu.passes.address_assign.assign import address_of, divided_parts, move_to
from xdsl_tpu.passes.address_assign.planner import ALIGNMENT_BYTES, PAGE_BYTES, align_up
from xdsl_tpu.passes.address_assign.views import view_of
from xdsl_tpu.passes.cut_network import remove_unused
from xdsl_tpu.passes.module_state import State, require_state, set_module_attributes
from xdsl_tpu.passes.pipeline import did_you_mean
from xdsl_tpu.passes.tensors import required_name, size_in_bytes

_KEYS = (
    "new_input_names",
    "new_output_names",
    "assign_new_io_addrs",
    "remove_unused_local_ops",
    "put_storeop_near_producer",
)
_SIZE = "module.neuron_size"


@dataclass(frozen=True)
class CutFinalMlirPass(ModulePass):
    """Cut an addressed network: other tensors become its inputs and outputs.

    `config_file` is JSON, `{"new_input_names": [..], "new_output_names": [..]}`.

        func @subfunc_0(%x) {                        func @subfunc_0(%1) {
          %1 = Conv2D(%x) : tensor<.., 64>             %2 = Active(%1) : tensor<.., 128>
          %2 = Active(%1) : tensor<.., 128>    ->      return %2
          %3 = Softmax(%2) : tensor<.., 64>          }
          return %3
        }

    What nothing needs goes; addresses, groups and the image of coefficients stay, so that the rest
    runs as it did. New outputs share their bytes with nothing that comes later: without
    `"assign_new_io_addrs": false`, a new input or output gets an address behind the arena. The
    value between two ops of a layer group is never in DDR; to cut there is an error. The other keys
    of the vendor's file change nothing: unused ops always go, and no Store is added.
    """

    name = "cut-final-mlir"

    config_file: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TPU_ADDRESSED, self.name)
        config = _read(self.config_file, self.name)
        inner, main, subfunc = divided_parts(op)
        starts = _named(subfunc, config.get("new_input_names", ()), self.name)
        ends = _named(subfunc, config.get("new_output_names", ()), self.name)
        moved = bool(config.get("assign_new_io_addrs", True))
        if moved:
            _move(inner, [value for value in (*starts, *ends) if not _is_border(value, subfunc)])
            starts = _named(subfunc, config.get("new_input_names", ()), self.name)
            ends = _named(subfunc, config.get("new_output_names", ()), self.name)
        if ends:
            _end_at(subfunc, ends)
        for value in starts:
            _begin_at(subfunc, value)
        remove_unused(subfunc)
        subfunc.update_function_type()
        _rebuild(main, subfunc)
        outputs = _return_of(subfunc).arguments
        set_module_attributes(
            op,
            {
                "module.inputs": _names(subfunc.body.block.args),
                "module.outputs": _names(outputs),
            },
        )


def _read(file: str, pass_name: str) -> dict[str, Any]:
    if not file:
        raise TpuError(f"{pass_name}: give the names to cut at, config_file=X.json")
    try:
        config = json.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise TpuError(f"{pass_name}: cannot read {file}: {error.strerror}") from error
    except ValueError as error:
        raise TpuError(f"{pass_name}: {file} is no JSON: {error}") from error
    if not isinstance(config, dict):
        raise TpuError(f"{pass_name}: {file} is no JSON object")
    found = cast(dict[str, Any], config)
    for key in found:
        if key not in _KEYS:
            raise TpuError(f"{pass_name}: {file}: unknown key '{key}'{did_you_mean(key, _KEYS)}")
    return found


def _named(func: FuncOp, names: Sequence[str], pass_name: str) -> list[SSAValue]:
    block = func.body.block
    made = [value for op in block.ops if not isinstance(op, top.WeightOp) for value in op.results]
    values = {
        name_of(value): value
        for value in (*block.args, *made)
        if not isinstance(value.type, NoneType)
    }
    inside = {
        name_of(value)
        for group in block.ops
        if isinstance(group, tpu.GroupOp)
        for op in group.body.block.ops
        for value in op.results
    }
    for name in names:
        if name in values:
            continue
        if name in inside:
            raise TpuError(
                f"{pass_name}: tensor '{name}' is inside a layer group and never in DDR; cut at "
                "another, or compile without layer-group"
            )
        near = did_you_mean(name, [known for known in values if known])
        raise TpuError(f"{pass_name}: no tensor is called '{name}'{near}")
    return [values[name] for name in names]


def _return_of(func: FuncOp) -> ReturnOp:
    last = func.body.block.last_op
    assert isinstance(last, ReturnOp)
    return last


def _is_border(value: SSAValue, func: FuncOp) -> bool:
    """Whether a value is an input or an output already, or shares the bytes of another."""
    returned = _return_of(func).arguments
    return value in func.body.block.args or value in returned or view_of(value) is not None


def _move(inner: ModuleOp, values: Sequence[SSAValue]) -> None:
    """Give values addresses of their own, behind the arena."""
    base, size = (_integer(inner, key) for key in ("module.neuron_addr", _SIZE))
    end = base + size
    for value in dict.fromkeys(values):
        address = align_up(end, ALIGNMENT_BYTES)
        end = address + size_in_bytes(value)
        move_to(value, address)
    pages = align_up(end - base, PAGE_BYTES)
    set_module_attributes(inner, {_SIZE: IntegerAttr(pages, i64)})


def _integer(module: ModuleOp, key: str) -> int:
    value = module.attributes.get(key)
    if value is None or not is_integer_attr(value):
        raise TpuError(f"the module has no {key}: run --address-assign first")
    return value.value.data


def _end_at(func: FuncOp, values: Sequence[SSAValue]) -> None:
    old = _return_of(func)
    new = ReturnOp(*values)
    new.location = old.location
    old.detach()
    old.erase()
    func.body.block.add_op(new)


def _begin_at(func: FuncOp, value: SSAValue) -> None:
    block = func.body.block
    if value in block.args:
        return
    address_of(value)
    argument = block.insert_arg(value.type, len(block.args))
    argument.location = name_loc(required_name(value))
    value.replace_uses_with_if(argument, lambda use: True)


def _rebuild(main: FuncOp, subfunc: FuncOp) -> None:
    """`@main` anew: an Input for each argument of the function that the chip runs, and the call."""
    block = main.body.block
    known = {name_of(op): op for op in block.ops if isinstance(op, top.InputOp)}
    inputs = [known.get(name_of(argument)) for argument in subfunc.body.block.args]
    attributes = [dict(one.attributes) if one is not None else {} for one in inputs]
    returned, call = _return_of(main), next(op for op in block.ops if isinstance(op, CallOp))
    locations = returned.location, call.location
    for op in reversed(list(block.ops)):
        op.detach()
        op.erase()
    for argument in list(block.args):
        block.erase_arg(argument)
    entries: list[top.InputOp] = []
    for argument, own in zip(subfunc.body.block.args, attributes, strict=True):
        outer = block.insert_arg(argument.type, len(block.args))
        entry = top.InputOp.make(required_name(argument), (outer,), result_types=[argument.type])
        entry.attributes = {**entry.attributes, **own}
        block.add_op(entry)
        entries.append(entry)
    kinds = [value.type for value in _return_of(subfunc).arguments]
    again = CallOp("subfunc_0", [entry.output for entry in entries], kinds)
    ended = ReturnOp(*again.results)
    ended.location, again.location = locations
    block.add_op(again)
    block.add_op(ended)
    main.update_function_type()


def _names(values: Sequence[SSAValue]) -> ArrayAttr[StringAttr]:
    return ArrayAttr([StringAttr(required_name(value)) for value in values])
