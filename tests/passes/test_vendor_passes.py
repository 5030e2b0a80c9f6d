"""Passes of the vendor's command lines: every name is known, and what acts keeps the numbers."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from tests.integers.on_chip import cosine
from tests.passes.semantics import Array, Net, assert_same_numbers, compiled, random_inputs, run
from tests.tools.small_models import Builder
from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr, ModuleOp, StringAttr, f64, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from xdsl_tpu.backend.bmodel import read_bmodel
from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.backend.first_fit import peak_bytes
from xdsl_tpu.backend.report import run_report
from xdsl_tpu.backend.timing import simulate_program
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import make_context, print_module
from xdsl_tpu.dialects.weights import clone_with_weights, weights_of
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes import PASSES
from xdsl_tpu.passes.address_assign.lifetimes import lifetimes
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.pipelines import lower
from xdsl_tpu.tools.module_weights import name_weights
from xdsl_tpu.tools.tpu_opt import main

CHIP = load_chip()
VENDOR = (
    "add-postprocess deinit extra-optimize fuse-preprocess import-calibration-table init "
    "processor-assign processor-top-optimize pruning convert-qdq-to-calibrated-dialect "
    "shape-infer struct-optimize address-assign affine-opt after-layergroup-weight-reorder codegen "
    "core-parallel cut-final-mlir dev-parallel layer-group net_statistic op-divide op-reorder "
    "opt-post-processor processor-tpu-optimize shape-optimize show-address strip-io-quant "
    "subnet-divide time-fixed-subnet topo-sort trunc-io trunc-layer weight-deduplicate weight-fold "
    "weight-reorder convert-top-to-linalg convert-top-to-tosa convert-top-to-tpu"
)
"""The names of all its passes."""


STAGES = (
    ("origin", "struct-optimize shape-infer canonicalize extra-optimize", "net"),
    (
        "net",
        'processor-assign="chip=bm1684x mode=F16 num_device=1 num_core=1 addr_mode=auto '
        'high_precision=False" processor-top-optimize '
        'fuse-preprocess="mode= customization_format= align=False" '
        'convert-top-to-tpu=" weightFileName=net_tpu.npz asymmetric=False doWinograd=False '
        "q_group_size=0 q_symmetric=False matmul_perchannel=False "
        'gelu_mode=normal" canonicalize weight-fold',
        "tpu",
    ),
    (
        "tpu",
        'mlir-disable-threading strip-io-quant="quant_input=False quant_output=False '
        "quant_input_list= quant_output_list= quant_output_bf16=False quant_input_int8=False "
        'quant_output_int8=False" processor-tpu-optimize',
        "opt",
    ),
    (
        "opt",
        'mlir-disable-threading dev-parallel weight-reorder subnet-divide="dynamic=False" '
        'op-reorder topo-sort layer-group="opt=2 group_by_cores=auto compress_mode=none debugger=1 '
        "disable_group_overlap=false lgcache=true config_filename= enable_lghash=False "
        'lghash_dir=" affine-opt core-parallel after-layergroup-weight-reorder address-assign',
        "final",
    ),
)
"""The vendor's command lines: the file that is read, passes with options, what is written."""

CODEGEN = (
    "--codegen=model_file=net.bmodel embed_debug_info=True model_version=latest bmodel_only=False "
    "gdma_check=False rvti=False"
)


def test_every_pass_of_the_vendor_is_known_by_name() -> None:
    assert len(VENDOR.split()) == 39
    assert set(VENDOR.split()) <= set(PASSES)


def opt(*arguments: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--init", *arguments, "--deinit"])
    assert ended.value.code == 0


def branched(path: Path) -> None:
    """A small network with two branches."""
    net = Builder(3)
    stem = net.node("Conv", ["x", net.weight("w1", 8, 3, 3, 3)], "stem", pads=[1] * 4)
    relu = net.node("Relu", [stem], "relu")
    left = net.node("Conv", [relu, net.weight("w2", 8, 8, 1, 1)], "left")
    right = net.node("MaxPool", [relu], "right", kernel_shape=[3, 3], pads=[1] * 4)
    net.node("Add", [left, right], "y")
    model = net.model({"x": (1, 3, 12, 12)}, {"y": (1, 8, 12, 12)})
    path.write_bytes(model.SerializeToString())


def imported(path: Path) -> ModuleOp:
    """What an import leaves: `origin.mlir` beside its weights."""
    module = import_onnx(path)
    weights_of(module).save(name_weights(module))
    with Path("origin.mlir").open("w") as stream:
        print_module(module, stream)
    return module


def test_the_command_lines_of_all_stages_run_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From what the import wrote to a bmodel whose outputs are the network's."""
    monkeypatch.chdir(tmp_path)
    branched(Path("net.onnx"))
    module = imported(Path("net.onnx"))
    for source, passes, target in STAGES:
        flags = [f"--{word}" for word in shlex.split(passes)]
        opt(f"{source}.mlir", *flags, "--mlir-print-debuginfo", "-o", f"{target}.mlir")
    opt("final.mlir", CODEGEN, "-o", "/dev/null")
    x = np.random.default_rng(0).standard_normal((1, 3, 12, 12)).astype(np.float32)
    (expected,) = run_module(module, [x]).values()
    (got,) = run_program(read_bmodel(Path("net.bmodel")), CHIP, {"x": x}).values()
    np.testing.assert_allclose(got, expected, atol=0.02)


def heads(path: Path) -> None:
    """Two products with constant matrices, one of them too small to pack, and one with none."""
    net = Builder(5)
    wide = net.node("MatMul", ["x", net.weight("w1", 128, 192)], "wide")
    narrow = net.node("MatMul", [wide, net.weight("w2", 192, 10)], "narrow")
    net.node("MatMul", [wide, net.node("Transpose", [wide], "turned", perm=[1, 0])], "square")
    model = net.model({"x": (3, 128)}, {narrow: (3, 10), "square": (3, 3)})
    path.write_bytes(model.SerializeToString())


@pytest.mark.parametrize(
    ("mode", "group", "least"),
    [("W4F16", 64, 0.98), ("W8F16", 0, 0.9999), ("W8BF16", 32, 0.999)],
)
def test_its_command_lines_for_packed_matrices_run_as_they_are(
    mode: str, group: int, least: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mode of processor-assign goes through all stages; what fits is packed, no more."""
    monkeypatch.chdir(tmp_path)
    heads(Path("net.onnx"))
    module = imported(Path("net.onnx"))
    for source, passes, target in STAGES:
        given = passes.replace("mode=F16", f"mode={mode}")
        given = given.replace("q_group_size=0", f"q_group_size={group}")
        flags = [f"--{word}" for word in shlex.split(given)]
        opt(f"{source}.mlir", *flags, "--mlir-print-debuginfo", "-o", f"{target}.mlir")
    text = Path("final.mlir").read_text()
    assert f'module.mode = "{mode}"' in text
    (packed,) = (line for line in text.splitlines() if '"tpu.A16MatMul"(' in line)
    assert f"weight_bits = {mode[1]} : i64" in packed
    assert f"q_group_size = {group or 64} : i64" in packed
    assert text.count('"tpu.MatMul"(') == 2
    opt("final.mlir", CODEGEN, "-o", "/dev/null")
    x = np.random.default_rng(0).standard_normal((3, 128)).astype(np.float32)
    program = read_bmodel(Path("net.bmodel"))
    assert program.quantize == mode
    found = run_program(program, CHIP, {"x": x}).values()
    for got, expected in zip(found, run_module(module, [x]).values(), strict=True):
        assert least < cosine(got, expected) < 0.99999999
    assert run_report(program, CHIP, simulate_program(program, CHIP), None, {})["cycles"]


def test_matrices_of_unknown_groups_are_refused() -> None:
    net = Net()
    module = net.module(net.op(top.ReluOp, "y", (net.input("x", 1, 64),)))
    lowering = make_pass("convert-top-to-tpu", "mode=W4F16 chip=bm1684x q_group_size=48")
    with pytest.raises(TpuError, match="q_group_size must be one of 32, 64, 128, not 48"):
        lowering.apply(make_context(), module)


def random_net(seed: int) -> ModuleOp:
    """Ops that each read one or two of all values before them."""
    random = np.random.default_rng(seed)
    net = Net()
    values: list[SSAValue] = [net.input("x", 1, 4, 8, 8)]
    for number in range(12):
        name = f"v{number}"
        one, two = (values[random.integers(len(values))] for _ in range(2))
        kind = random.integers(3)
        if kind == 0:
            values.append(net.op(top.ReluOp, name, (one,)))
        elif kind == 1:
            values.append(net.op(top.AddOp, name, (one, net.weight(f"w{number}", 1, 4, 1, 1))))
        else:
            values.append(net.op(top.AddOp, name, (one, two)))
    return net.module(*values[-3:])


def peak(module: ModuleOp) -> int:
    (func,) = (op for op in module.body.ops if isinstance(op, FuncOp))
    return peak_bytes(lifetimes(func).buffers)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("options", ["", "{depth_first=false}"])
def test_sorted_networks_compute_the_same_in_no_more_bytes(seed: int, options: str) -> None:
    module = random_net(seed)
    after = assert_same_numbers(module, f"topo-sort{options}", seed)
    assert peak(after) <= peak(module)


def test_some_networks_take_fewer_bytes_when_sorted() -> None:
    assert any(peak(compiled(net, "topo-sort")) < peak(net) for net in map(random_net, range(12)))


@pytest.mark.parametrize("seed", range(8))
def test_a_part_of_a_network_computes_what_it_did(seed: int) -> None:
    """With what its new inputs were, it gives what its new outputs were."""
    module = random_net(seed)
    inputs = random_inputs(module, seed)
    values, _ = run(module, inputs)
    part = clone_with_weights(module)
    names = [name for name in values if name.startswith("v")]
    first, last = names[:2], names[-2:]
    cut = f"inputs={','.join(first)} outputs={','.join(last)}"
    make_pass("trunc-io", cut).apply(make_context(), part)
    part.verify()
    entries = [op for op in part.walk() if isinstance(op, top.InputOp)]
    given = {name_of(op) or "": {**values, **inputs}[name_of(op) or ""] for op in entries}
    _, outputs = run(part, given)
    for got, name in zip(outputs, last, strict=True):
        np.testing.assert_array_equal(got, values[name])


def test_equal_weights_become_one() -> None:
    net = Net()
    x = net.input("x", 1, 4)
    same = np.arange(4, dtype=np.float32)
    weights = [net.weight(name, 1, 4, values=same) for name in ("a", "b")]
    other = net.weight("c", 1, 4, values=same + 1)
    first = net.op(top.AddOp, "y", (x, weights[0]))
    second = net.op(top.MulOp, "z", (first, weights[1]))
    after = assert_same_numbers(
        net.module(net.op(top.AddOp, "out", (second, other))), "weight-deduplicate"
    )
    assert sum(isinstance(op, top.WeightOp) for op in after.walk()) == 2


FORMATS = ("RGB_PLANAR", "RGB_PACKED", "BGR_PLANAR", "BGR_PACKED", "RGBA_PLANAR")


def image_net(order: str) -> tuple[ModuleOp, Array, Array]:
    """A network of one Relu on a 4x6 image in `order`; means and scales of its channels."""
    net = Net()
    module = net.module(net.op(top.ReluOp, "y", (net.input("x", 1, 3, 4, 6),)))
    (entry,) = (op for op in module.walk() if isinstance(op, top.InputOp))
    mean, scale = np.array([10.0, 20.0, 30.0]), np.array([0.5, 0.25, 0.125])
    entry.attributes |= {
        "pixel_format": StringAttr(order),
        "channel_format": StringAttr("nchw"),
        "resize_dims": ArrayAttr([IntegerAttr(size, i64) for size in (8, 6)]),
        "mean": ArrayAttr([FloatAttr(value, f64) for value in mean]),
        "scale": ArrayAttr([FloatAttr(value, f64) for value in scale]),
    }
    return module, mean, scale


@pytest.mark.parametrize("order", ["rgb", "bgr"])
@pytest.mark.parametrize("layout", FORMATS)
def test_images_are_prepared_on_the_chip(order: str, layout: str) -> None:
    """By the formula on whole images: the interpreter and the machine."""
    module, mean, scale = image_net(order)
    make_pass("fuse-preprocess", f"customization_format={layout}").apply(make_context(), module)
    make_pass("shape-infer").apply(make_context(), module)
    module.verify()
    channels = layout.partition("_")[0].lower()
    image = np.random.default_rng(1).integers(0, 256, (1, len(channels), 8, 6)).astype(np.float32)
    ordered = image[:, [channels.index(one) for one in order], 2:6]
    expected = np.maximum((ordered - mean[:, None, None]) * scale[:, None, None], 0)
    raw = image.transpose(0, 2, 3, 1) if layout.endswith("PACKED") else image
    (got,) = run_module(module, [raw]).values()
    np.testing.assert_allclose(got, expected, atol=1e-4)
    lower(module, "F32", CHIP.instruction_set)
    program = generate(module, weights_of(module), CHIP)
    (simulated,) = run_program(program, CHIP, {"x_raw": raw}).values()
    np.testing.assert_allclose(simulated, expected, atol=1e-4)


def test_a_cut_program_computes_what_it_did(tmp_path: Path) -> None:
    """On the machine, from the middle of an addressed network to a tensor before its end."""
    net = Net()
    x = net.input("x", 1, 4, 8, 8)
    first = net.op(top.AddOp, "first", (x, net.weight("w", 1, 4, 1, 1)))
    second = net.op(top.SigmoidOp, "second", (first,), scale=1.0, bias=0.0)
    third = net.op(top.AddOp, "third", (second, first))
    last = net.op(top.SoftmaxOp, "last", (third,), axis=3, beta=1.0)
    module = net.module(last)
    inputs = random_inputs(module, 0)
    values, _ = run(module, inputs)
    lower(module, "F32", CHIP.instruction_set, disable=("layer-group",))
    config = tmp_path / "cut.json"
    config.write_text(
        json.dumps({"new_input_names": ["first"], "new_output_names": ["third", "second"]})
    )
    make_pass("cut-final-mlir", f"config_file={config}").apply(make_context(), module)
    module.verify()
    make_pass("verify-addresses").apply(make_context(), module)
    program = generate(module, weights_of(module), CHIP)
    got = run_program(program, CHIP, {"first": values["first"]})
    assert list(got) == ["third", "second"]
    for name, value in got.items():
        np.testing.assert_allclose(value, values[name], atol=1e-5)


def test_inputs_and_outputs_alone_keep_their_numbers() -> None:
    module = random_net(5)
    inputs = random_inputs(module, 5)
    expected = list(run_module(module, inputs).values())
    for name, options in (
        ("processor-assign", "chip=bm1684x mode=F32 addr_mode=io_alone"),
        ("convert-top-to-tpu", ""),
        ("weight-reorder", ""),
        ("subnet-divide", ""),
        ("layer-group", ""),
        ("address-assign", ""),
        ("verify-addresses", ""),
    ):
        make_pass(name, options).apply(make_context(), module)
    program = generate(module, weights_of(module), CHIP)
    got = list(run_program(program, CHIP, inputs).values())
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    places = [tensor.address for tensor in (*program.inputs, *program.outputs)]
    assert len(set(places)) == len(places)
