"""What `generate` refuses, and that it does so before any work."""

import re

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.leaves import LEAVES
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.text import parse_module
from xdsl_tpu.dialects.weights import Weights

CHIP = load_chip()
COEFF, ARENA = 0x1_0000_0000, 0x1_0000_1000
X = f"tensor<1x4xf32, {ARENA} : i64>"
Y = f"tensor<1x4xf32, {ARENA + 4096} : i64>"
W = f"tensor<1x4xf32, {COEFF} : i64>"

RELU = f'%1 = "tpu.Relu"(%0) : ({X}) -> {Y} loc("y")'


def module(body: str = RELU, result: str = Y, attributes: str = "", arena: int = 8192) -> ModuleOp:
    """A final module around the lines of one subnet; %0 is its input, %1 its result."""
    placed = (
        f"module.coeff_addr = {COEFF} : i64, module.coeff_size = 4096 : i64, "
        f"module.neuron_addr = {ARENA} : i64, module.neuron_size = {arena} : i64"
    )
    return parse_module(f"""
module @net attributes {{module.mode = "F32"}} {{
  module @net_0 attributes {{{attributes or placed}}} {{
    func.func @subfunc_0(%0: {X} loc("x")) -> {result} {{
      {body}
      return %1 : {result} loc(unknown)
    }} loc(unknown)
  }} loc(unknown)
}} loc(unknown)
""")


def test_a_small_module_is_accepted() -> None:
    program = generate(module(), Weights(), CHIP)
    assert (program.name, program.quantize, program.chip) == ("net", "F32", CHIP.name)
    assert [(layer.name, layer.op) for layer in program.layers] == [("y", "tpu.Relu")]
    assert [(t.name, t.address, t.shape) for t in program.inputs] == [("x", ARENA, (1, 4))]
    assert [(t.name, t.address, t.shape) for t in program.outputs] == [("y", ARENA + 4096, (1, 4))]
    assert program.coefficients.nbytes == 4096


def test_every_op_without_a_kernel_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(LEAVES, tpu.ReluOp)
    body = f"""%a = "tpu.Relu"(%0) : ({X}) -> {Y} loc("first")
      %b = "tpu.Add"(%a, %a) : ({Y}, {Y}) -> {Y} loc("fine")
      %1 = "tpu.Relu"(%b) : ({Y}) -> {Y} loc("second")"""
    with pytest.raises(TpuError, match=r"no kernel for 2 op\(s\)") as error:
        generate(module(body), Weights(), CHIP)
    assert str(error.value).splitlines()[1:] == [
        "  tpu.Relu 'first': no kernel",
        "  tpu.Relu 'second': no kernel",
    ]


def test_addresses_are_needed() -> None:
    bare = "tensor<1x4xf32>"
    body = f'%1 = "tpu.Relu"(%0) : ({X}) -> {bare} loc("y")'
    with pytest.raises(TpuError, match=r"'y'.*carries no address.*--address-assign"):
        generate(module(body, bare), Weights(), CHIP)


@pytest.mark.parametrize("missing", ["coeff_addr", "coeff_size", "neuron_addr", "neuron_size"])
def test_sizes_are_needed(missing: str) -> None:
    original = module()
    inner = next(op for op in original.walk() if isinstance(op, ModuleOp) and op is not original)
    del inner.attributes[f"module.{missing}"]
    with pytest.raises(TpuError, match=rf"no 'module\.{missing}': run --address-assign"):
        generate(original, Weights(), CHIP)


def weighted() -> ModuleOp:
    return module(
        f"""%w = "top.Weight"() : () -> {W} loc("weight")
      %1 = "tpu.Add"(%0, %w) : ({X}, {W}) -> {Y} loc("y")"""
    )


def test_weights_reach_the_image() -> None:
    weights = Weights()
    weights["weight"] = np.array([[1, 2, 3, 4]], np.float32)
    program = generate(weighted(), weights, CHIP)
    assert program.coefficients[:16].view(np.float32).tolist() == [1, 2, 3, 4]
    assert not program.coefficients[16:].any()


def test_weights_of_another_size_are_refused() -> None:
    weights = Weights()
    weights["weight"] = np.ones((1, 5), np.float32)
    with pytest.raises(TpuError, match=r"'weight': 20 bytes in the weight file, 16 in the IR"):
        generate(weighted(), weights, CHIP)


def test_missing_weights_are_named() -> None:
    with pytest.raises(TpuError, match="weight"):
        generate(weighted(), Weights(), CHIP)


def test_one_subnet_is_expected() -> None:
    nothing = parse_module("module @net {\n}")
    with pytest.raises(TpuError, match="one subnet function expected, found 0"):
        generate(nothing, Weights(), CHIP)
    function = f"func.func @subfunc_%d(%%0: {X}) -> {X} {{\n  return %%0 : {X}\n}}"
    both = parse_module(f"module @net {{\n{function % 0}\n{function % 1}\n}}")
    with pytest.raises(TpuError, match="found 2: subfunc_0, subfunc_1"):
        generate(both, Weights(), CHIP)


def test_the_arena_must_fit_the_memory() -> None:
    size = CHIP.ddr_bytes
    with pytest.raises(TpuError, match=re.escape(f"{size} bytes of activations at {ARENA:#x}")):
        generate(module(arena=size), Weights(), CHIP)
    assert generate(module(arena=size - 4096), Weights(), CHIP).arena_bytes == size - 4096
