"""Addresses in the IR, and the pass that proves them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.passes.real_networks import LOWERING, TO_FINAL, apply, real_module
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType, i64
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.first_fit import peak_bytes
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import parse_module
from xdsl_tpu.passes.address_assign.assign import (
    PAGE_BYTES,
    address_of,
    divided_parts,
)
from xdsl_tpu.passes.address_assign.lifetimes import lifetimes
from xdsl_tpu.passes.tensors import element_of, shape_of, size_in_bytes
from xdsl_tpu.passes.types import set_type

Array = npt.NDArray[Any]

T = "tensor<1x8x32xf32>"
NONES = "none, none, none, none"
CHAIN = f"""
module @chain attributes {{module.state = "TPU_DIVIDED"}} {{
  module @chain {{
    func.func @main(%arg0: {T}) -> {T} {{
      %0 = "top.Input"(%arg0) : ({T}) -> {T} loc("x")
      %1 = call @subfunc_0(%0) : ({T}) -> {T}
      return %1 : {T}
    }}
    func.func @subfunc_0(%arg0: {T} loc("x")) -> {T} {{
      %n = "top.None"() : () -> none loc(unknown)
      %w = "top.Weight"() : () -> {T} loc("w")
      %v = "top.Weight"() : () -> {T} loc("v")
      %a = "tpu.Add"(%arg0, %w) : ({T}, {T}) -> {T} loc("a")
      %r = "tpu.Reshape"(%a) {{shape = [8, 32]}} : ({T}) -> tensor<8x32xf32> loc("r")
      %s = "tpu.Slice"(%r, %n, %n, %n, %n) {{offset = [4, 0], ends = [8, 32], steps = [1, 1]}}
        : (tensor<8x32xf32>, {NONES}) -> tensor<4x32xf32> loc("s")
      %t = "tpu.Slice"(%r, %n, %n, %n, %n) {{offset = [0, 8], ends = [8, 16], steps = [1, 1]}}
        : (tensor<8x32xf32>, {NONES}) -> tensor<8x8xf32> loc("t")
      %b = "tpu.Buffer"() : () -> tensor<256xf32> loc("scratch")
      %c = "tpu.Relu"(%s) : (tensor<4x32xf32>) -> tensor<4x32xf32> loc("c")
      %p = "tpu.Permute"(%arg0, %b) {{order = [0, 1, 2]}}
        : ({T}, tensor<256xf32>) -> {T} loc("p")
      %m = "tpu.Mul"(%p, %v) : ({T}, {T}) -> {T} loc("m")
      %o = "tpu.Relu"(%m) : ({T}) -> {T} loc("o")
      return %o : {T}
    }}
  }}
}}
"""


JOINED = f"""
module @joined attributes {{module.state = "TPU_DIVIDED"}} {{
  module @joined {{
    func.func @main(%arg0: {T}) -> tensor<16x32xf32> {{
      %0 = "top.Input"(%arg0) : ({T}) -> {T} loc("x")
      %1 = call @subfunc_0(%0) : ({T}) -> tensor<16x32xf32>
      return %1 : tensor<16x32xf32>
    }}
    func.func @subfunc_0(%arg0: {T} loc("x")) -> tensor<16x32xf32> {{
      %a = "tpu.Relu"(%arg0) : ({T}) -> {T} loc("a")
      %b = "tpu.Relu"(%a) : ({T}) -> {T} loc("b")
      %c = "tpu.Relu"(%b) : ({T}) -> {T} loc("c")
      %r = "tpu.Reshape"(%a) {{shape = [8, 32]}} : ({T}) -> tensor<8x32xf32> loc("r")
      %s = "tpu.Reshape"(%c) {{shape = [8, 32]}} : ({T}) -> tensor<8x32xf32> loc("s")
      %j = "tpu.Join"(%r, %s) {{axis = 0 : si32}}
        : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<16x32xf32> loc("j")
      return %j : tensor<16x32xf32>
    }}
  }}
}}
"""


def test_parts_under_another_shape_lie_in_what_they_are_parts_of() -> None:
    """From where the first of them is made on, so that nothing comes to lie on it."""
    module = apply(parse_module(JOINED), ("address-assign", ""))
    found = addresses(module)
    assert found["a"] == found["r"] == found["j"]
    assert found["c"] == found["s"] == found["j"] + 1024
    _, _, subfunc = divided_parts(module)
    live = {buffer.key: buffer for buffer in lifetimes(subfunc).buffers}
    steps = {name_of(op): step for step, op in enumerate(subfunc.body.block.ops)}
    assert live["j"].first == steps["a"]
    apply(module, ("verify-addresses", ""))


def test_parts_that_lie_elsewhere_are_refused() -> None:
    module = apply(parse_module(JOINED), ("address-assign", ""))
    values, at = tensors(module), addresses(module)
    for name in ("c", "s"):
        old = values[name].type
        assert isa(old, TensorType)
        place = IntegerAttr(at["j"], i64)
        set_type(values[name], TensorType(old.element_type, old.get_shape(), place))
    with pytest.raises(TpuError, match="'s' is a part of 'j' but starts elsewhere"):
        apply(module, ("verify-addresses", ""))


def chain(options: str = "") -> ModuleOp:
    return apply(parse_module(CHAIN), ("address-assign", options))


def tensors(module: ModuleOp) -> dict[str, SSAValue]:
    """The tensors of the chip's function by name."""
    _, _, subfunc = divided_parts(module)
    values: list[SSAValue] = list(subfunc.body.block.args)
    for op in subfunc.body.block.ops:
        values += [result for result in op.results if isinstance(result.type, TensorType)]
    return {name_of(value) or "": value for value in values}


def addresses(module: ModuleOp) -> dict[str, int]:
    return {name: address_of(value) for name, value in tensors(module).items()}


def number(module: ModuleOp, key: str) -> int:
    """An integer attribute of the inner module."""
    attribute = module.attributes[f"module.{key}"]
    assert isa(attribute, IntegerAttr)
    return attribute.value.data


def test_coefficients_come_first_on_pages_of_their_own() -> None:
    module = chain()
    found = addresses(module)
    assert found["w"] == COEFF_ADDRESS
    assert found["v"] == COEFF_ADDRESS + PAGE_BYTES
    inner, _, _ = divided_parts(module)
    size = 2 * PAGE_BYTES
    assert number(inner, "coeff_size") == number(inner, "dynamic_coeff_offset") == size
    assert number(inner, "neuron_addr") == COEFF_ADDRESS + size


def test_coefficients_can_be_packed_tighter() -> None:
    found = addresses(chain("coeff_alignment=64"))
    assert found["v"] == found["w"] + 1024


def test_weights_say_whose_operand_they_are() -> None:
    ops = [op for op in chain().walk() if isinstance(op, top.WeightOp)]
    assert [op.path.data for op in ops if op.path] == ["tpu.Add.1", "tpu.Mul.1"]


def test_reshapes_and_contiguous_slices_share_their_inputs_bytes() -> None:
    found = addresses(chain())
    assert found["r"] == found["a"]
    assert found["s"] == found["a"] + 4 * 32 * 4


def test_a_slice_with_gaps_has_bytes_of_its_own() -> None:
    found = addresses(chain())
    assert not found["a"] <= found["t"] < found["a"] + 1024


def test_scratch_is_live_only_while_its_user_runs() -> None:
    """It may lie where `a` was, which is dead by then, but not on the input, which is not."""
    _, _, subfunc = divided_parts(chain())
    live = {buffer.key: buffer for buffer in lifetimes(subfunc).buffers}
    steps = {name_of(op): step for step, op in enumerate(subfunc.body.block.ops)}
    assert (live["scratch"].first, live["scratch"].last) == (steps["p"], steps["p"])
    assert live["a"].last == steps["c"]  # through r and s
    assert live["x"].first < 0
    assert live["o"].last == len(list(subfunc.body.block.ops))


def test_caller_and_callee_agree() -> None:
    _, main, subfunc = divided_parts(chain())
    assert main.function_type.outputs == subfunc.function_type.outputs
    (call,) = [op for op in main.body.block.ops if op.name == "func.call"]
    assert call.operands[0].type == subfunc.body.block.args[0].type
    assert call.results[0].type == main.function_type.outputs.data[0]


def test_argument_names_survive() -> None:
    assert "x" in addresses(chain())


def test_without_reuse_every_tensor_survives() -> None:
    module = chain("reuse_addr=false")
    found = {name: at for name, at in addresses(module).items() if name not in ("r", "s")}
    assert len(set(found.values())) == len(found)
    apply(module, ("verify-addresses", ""))
    inner, _, _ = divided_parts(module)
    assert number(inner, "neuron_size") > number(divided_parts(chain())[0], "neuron_size")


@pytest.mark.parametrize("options", ["alignment=32", "coeff_alignment=100"])
def test_alignments_the_dma_cannot_use_are_refused(options: str) -> None:
    with pytest.raises(TpuError, match="must be a multiple of 64"):
        chain(options)


@pytest.mark.parametrize("name", ["mobilenetv2_100", "resnet50", "swin_t"])
@pytest.mark.parametrize("mode", ["F16", "F32"])
def test_arena_of_real_networks_is_within_5_percent_of_the_peak(name: str, mode: str) -> None:
    module = real_module(name, with_weights=False)
    lowering = ("convert-top-to-tpu", f"mode={mode} chip=bm1684x")
    apply(module, lowering, *TO_FINAL, ("verify-addresses", ""))
    inner, _, subfunc = divided_parts(module)
    peak = peak_bytes(lifetimes(subfunc).buffers)
    assert peak <= number(inner, "neuron_size") <= 1.05 * peak


def test_without_reuse_it_would_be_far_larger() -> None:
    module = apply(real_module("resnet50", with_weights=False), *LOWERING, *TO_FINAL)
    inner, _, subfunc = divided_parts(module)
    assert number(inner, "neuron_size") < sum(b.size for b in lifetimes(subfunc).buffers) / 7


COEFF_ADDRESS = load_chip("bm1684x").ddr_base
UNIT = 64


@dataclass
class Memory:
    """Which tensor was last written to each 64-byte unit of the DDR."""

    start: int
    owners: npt.NDArray[np.int32]
    numbers: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    def units(self, value: SSAValue) -> npt.NDArray[np.int32]:
        first = (address_of(value) - self.start) // UNIT
        return self.owners[first : first + -(-size_in_bytes(value) // UNIT)]

    def write(self, value: SSAValue) -> None:
        self.units(value)[:] = self.numbers.setdefault(value, len(self.numbers) + 1)

    def intact(self, value: SSAValue) -> bool:
        return bool(np.all(self.units(value) == self.numbers[written_as(value)]))


def written_as(value: SSAValue) -> SSAValue:
    """The tensor whose writing put the bytes of `value` into memory."""
    op = value.owner
    if isinstance(op, tpu.ReshapeOp | tpu.SqueezeOp | tpu.UnsqueezeOp):
        return written_as(op.input)
    if isinstance(op, tpu.SliceOp):
        inside = address_of(value) - address_of(op.input)
        if 0 <= inside <= size_in_bytes(op.input) - size_in_bytes(value):
            return written_as(op.input)
    return value


def simulate_memory(module: ModuleOp) -> dict[str, str]:
    """Write tensors to their bytes in program order; gives what is overwritten too early.

    Overwritten tensor -> the op that still wanted to read it.
    """
    inner, _, subfunc = divided_parts(module)
    total = number(inner, "neuron_addr") + number(inner, "neuron_size") - COEFF_ADDRESS
    memory = Memory(COEFF_ADDRESS, np.zeros(total // UNIT, np.int32))
    wrong: dict[str, str] = {}
    weights = [op.output for op in subfunc.body.block.ops if isinstance(op, top.WeightOp)]
    for value in (*subfunc.body.block.args, *weights):
        memory.write(value)
    for op in subfunc.body.block.ops:
        operands = [value for value in op.operands if isinstance(value.type, TensorType)]
        for operand in operands:
            if isinstance(operand.owner, tpu.BufferOp):
                memory.write(operand)
        for operand in operands:
            if not memory.intact(operand):
                wrong[name_of(operand) or ""] = name_of(op) or op.name
        for result in op.results:
            stored = isinstance(result.type, TensorType) and not isinstance(op, tpu.BufferOp)
            if stored and written_as(result) is result:
                memory.write(result)
    return wrong


@pytest.mark.parametrize("name", ["mobilenetv2_100", "resnet50", "swin_t"])
def test_no_tensor_is_overwritten_before_it_is_read(name: str) -> None:
    """The same claim as verify-addresses, checked by writing names into memory instead."""
    module = apply(real_module(name, with_weights=False), *LOWERING, *TO_FINAL)
    assert not simulate_memory(module)


def moved(module: ModuleOp, name: str, address: int) -> None:
    """Put one tensor somewhere else."""
    value = tensors(module)[name]
    new_type = TensorType(element_of(value), shape_of(value), IntegerAttr(address, i64))
    set_type(value, new_type)


FAULTS: dict[str, tuple[Callable[[dict[str, int]], tuple[str, int]], str]] = {
    "overlap": (
        lambda at: ("p", at["x"]),
        r"tensors 'x' \(steps -1 to \d+\) and 'p' \(steps \d+ to \d+\) share bytes",
    ),
    "misaligned": (lambda at: ("p", at["p"] + 32), "'p' at 0x[0-9a-f]+ is not aligned to 64 bytes"),
    "outside": (
        lambda at: ("p", at["p"] + (1 << 30)),
        "'p' at 0x.* is not inside the arena",
    ),
    "coefficient outside": (lambda at: ("w", at["x"]), "'w' at .* is not inside the coefficients"),
    "coefficients overlap": (lambda at: ("v", at["w"]), "coefficients 'w' and 'v' share bytes"),
    "view": (lambda at: ("r", at["a"] + 64), "'r' is a view of 'a' but starts elsewhere"),
    "input": (lambda at: ("x", at["x"] + 4096), "input 'x' has another address in @main"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_verify_addresses_finds(fault: str) -> None:
    module = chain()
    apply(module, ("verify-addresses", ""))
    change, message = FAULTS[fault]
    moved(module, *change(addresses(module)))
    with pytest.raises(TpuError, match=message):
        apply(module, ("verify-addresses", ""))


def test_verify_addresses_wants_an_address_on_every_tensor() -> None:
    module = chain()
    value = tensors(module)["m"]
    set_type(value, TensorType(element_of(value), shape_of(value)))
    with pytest.raises(TpuError, match="1 addresses are wrong:\n  tensor 'm' has no address"):
        apply(module, ("verify-addresses", ""))


def test_passes_refuse_modules_in_another_state() -> None:
    with pytest.raises(TpuError, match="in state TPU_DIVIDED, the pass needs TPU_ADDRESSED"):
        apply(parse_module(CHAIN), ("verify-addresses", ""))
    with pytest.raises(TpuError, match="in state TPU_ADDRESSED, the pass needs TPU_DIVIDED"):
        apply(chain(), ("address-assign", ""))
    bare = parse_module("module { }")
    with pytest.raises(TpuError, match="not divided: run --subnet-divide first"):
        apply(bare, ("address-assign", ""))


def test_the_memory_simulation_can_fail() -> None:
    module = chain()
    assert not simulate_memory(module)
    moved(module, "t", addresses(module)["x"])
    assert simulate_memory(module) == {"x": "p"}
