"""A folder of inputs that are wrong, each in one way, beside the right ones they are made from."""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper, parser
from tests.tools.small_models import Builder, cnn, dynamic, transformer, unsupported

from xdsl_tpu.backend.chip import CHIPS
from xdsl_tpu.tools.compile_model import compile_model
from xdsl_tpu.tools.tpu_calibrate import main as calibrate

IMAGE = (1, 3, 40, 24)
TOP = 'module @m attributes {module.state = "TOP_F32", module.weight_file = "%s"} {\n'
NET = (
    "func.func @main(%%a: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {\n"
    '%%0 = "top.None"() : () -> none\n%s\n}\n}\n'
)
ROWS = """<ir_version: 8, opset_import: ["": 17]>
small (int64[2] ids, float[4, 8] rows) => (float[2, 8] y) { y = Gather(rows, ids) }"""
INPUT = '%1 = "top.Input"(%a) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> loc("in")\n'


def write_bad_files(folder: Path) -> None:
    """Everything that the catalogue names."""
    _write_onnx(folder)
    _write_ir(folder)
    _write_chips(folder)
    _write_tables(folder)
    _write_programs(folder)
    _write_arrays(folder)
    (folder / "model.txt").write_text("not a model\n")
    (folder / "folder").mkdir()
    (folder / "report.json").write_text('{"cycles": 1}\n')
    (folder / "text.json").write_text("cycles: 1\n")
    figures = {"model": "x", "quantize": "F16", "chip": "X", "cycles": "many", "milliseconds": 1}
    report: dict[str, Any] = {**figures, "gdma": {}, "usage": {}, "layers": []}
    (folder / "words.json").write_text(json.dumps(report))


def _save(folder: Path, name: str, model: ModelProto) -> None:
    (folder / f"{name}.onnx").write_bytes(model.SerializeToString())


def _write_onnx(folder: Path) -> None:
    _save(folder, "cnn", cnn())
    _save(folder, "transformer", transformer())
    _save(folder, "dynamic", dynamic())
    unknown = dynamic()
    unknown.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    _save(folder, "minus_one", unknown)
    _save(folder, "unsupported", unsupported())
    data = cnn().SerializeToString()
    (folder / "cut.onnx").write_bytes(data[: len(data) // 2])
    (folder / "empty.onnx").write_bytes(b"")
    (folder / "text.onnx").write_text("not a model\n")
    for change in (
        *(cyclic, undefined, twice, no_outputs, no_nodes, foreign_domain, old_opset),
        new_opset,
        *(integer_image, strings, bad_weight_shape, nan_weight, infinite_weight, external),
        *(wrong_channels, bad_attribute, short_weight, sequence),
    ):
        model = cnn()
        change(model)
        _save(folder, change.__name__, model)


def _node(model: ModelProto, name: str) -> onnx.NodeProto:
    return next(node for node in model.graph.node if node.name == name)


def _constant(model: ModelProto, name: str) -> TensorProto:
    return next(tensor for tensor in model.graph.initializer if tensor.name == name)


def _replace(model: ModelProto, name: str, change: Callable[[Any], Any]) -> None:
    tensor = _constant(model, name)
    values = np.array(numpy_helper.to_array(tensor))
    tensor.CopyFrom(numpy_helper.from_array(change(values), name))


def cyclic(model: ModelProto) -> None:
    """The first convolution reads what comes after it."""
    _node(model, "stem").input[0] = "pooled"


def undefined(model: ModelProto) -> None:
    """A node reads a tensor that nothing makes."""
    _node(model, "stem_relu").input[0] = "nowhere"


def twice(model: ModelProto) -> None:
    """Two nodes make the same tensor."""
    model.graph.node.append(helper.make_node("Relu", ["stem"], ["pooled"], "again"))


def no_outputs(model: ModelProto) -> None:
    """The graph gives nothing."""
    del model.graph.output[:]


def no_nodes(model: ModelProto) -> None:
    """Outputs that no node makes."""
    del model.graph.node[:]


def foreign_domain(model: ModelProto) -> None:
    """A vendor's own operator."""
    _node(model, "stem_relu").domain = "com.vendor"
    model.opset_import.append(helper.make_opsetid("com.vendor", 1))


def old_opset(model: ModelProto) -> None:
    """An opset before those that are read."""
    model.opset_import[0].version = 3


def new_opset(model: ModelProto) -> None:
    """An opset that is not there yet."""
    model.opset_import[0].version = 999


def integer_image(model: ModelProto) -> None:
    """Strings as the element type of the input."""
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.STRING


def strings(model: ModelProto) -> None:
    """Weights that are text."""
    texts = np.array(["a"] * 16, object)
    _constant(model, "b0").CopyFrom(numpy_helper.from_array(texts, "b0"))


def bad_weight_shape(model: ModelProto) -> None:
    """A filter for other channels than the image has."""
    _replace(model, "w0", lambda values: values[:, :2])


def wrong_channels(model: ModelProto) -> None:
    """A bias for other channels than the filter has."""
    _replace(model, "b0", lambda values: values[:7])


def nan_weight(model: ModelProto) -> None:
    """One number of a filter is not a number."""

    def change(values: Any) -> Any:
        values[3, 1, 0, 2] = np.nan
        return values

    _replace(model, "w0", change)


def infinite_weight(model: ModelProto) -> None:
    """One number of a bias is infinite."""

    def change(values: Any) -> Any:
        values[3] = np.inf
        return values

    _replace(model, "b0", change)


def short_weight(model: ModelProto) -> None:
    """Fewer bytes than the shape says."""
    tensor = _constant(model, "w0")
    tensor.raw_data = tensor.raw_data[:-8]


def external(model: ModelProto) -> None:
    """Weights in a file that is not there."""
    tensor = _constant(model, "w0")
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "gone.bin"


def bad_attribute(model: ModelProto) -> None:
    """A kernel of no size."""
    node = _node(model, "pooled")
    del node.attribute[:]
    node.attribute.append(helper.make_attribute("kernel_shape", [0, 0]))


def sequence(model: ModelProto) -> None:
    """An input that is a sequence of tensors."""
    value = helper.make_tensor_sequence_value_info("image", TensorProto.FLOAT, None)
    model.graph.input[0].CopyFrom(value)


def _write_ir(folder: Path) -> None:
    relu = '%2 = "top.Relu"(%1) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> loc("y")\n'
    weight = '%w = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("w")\n'
    add = (
        '%2 = "top.Add"(%1, %w) : (tensor<1x4x8x8xf32>, tensor<1x4x1x1xf32>) '
        '-> tensor<1x4x8x8xf32> loc("y")\n'
    )
    end = "return %2 : tensor<1x4x8x8xf32>"
    np.savez(folder / "good.npz", w=np.zeros((1, 4, 1, 1), np.float32))
    np.savez(folder / "shaped.npz", w=np.zeros((1, 5, 1, 1), np.float32))
    np.savez(folder / "nan.npz", w=np.full((1, 4, 1, 1), np.nan, np.float32))
    np.savez(folder / "other.npz", v=np.zeros((1, 4, 1, 1), np.float32))
    whole = (folder / "good.npz").read_bytes()
    (folder / "broken.npz").write_bytes(whole[: len(whole) // 2])
    for weights in ("good", "shaped", "nan", "other", "broken", "gone"):
        text = TOP % f"{weights}.npz" + NET % (INPUT + weight + add + end)
        (folder / f"{weights}_weights.mlir").write_text(text)
    plain = TOP % "good.npz" + NET % (INPUT + relu + end)
    (folder / "plain.mlir").write_text(plain)
    (folder / "cut.mlir").write_text(plain[:-60])
    (folder / "syntax.mlir").write_text('func.func @main() { "top.Nothing"( }\n')
    (folder / "unknown_op.mlir").write_text(plain.replace("top.Relu", "top.Rely"))
    (folder / "undefined.mlir").write_text(plain.replace("(%1) : (tensor", "(%9) : (tensor"))
    (folder / "cyclic.mlir").write_text(plain.replace('"top.Relu"(%1)', '"top.Relu"(%2)'))
    (folder / "binary.mlir").write_bytes(b"\xff\xfe\x00module")
    (folder / "empty.mlir").write_text("")
    (folder / "lowered.mlir").write_text(plain.replace("TOP_F32", "TPU_LOWERED"))
    wrong = plain.replace('-> tensor<1x4x8x8xf32> loc("y")', '-> tensor<1x4x8x9xf32> loc("y")')
    wrong = wrong.replace("return %2 : tensor<1x4x8x8xf32>", "return %2 : tensor<1x4x8x9xf32>")
    (folder / "wrong_type.mlir").write_text(wrong)
    conv = (
        '%f = "top.Weight"() : () -> tensor<8x4x3x3xf32> loc("f")\n'
        '%2 = "top.Conv"(%1, %f, %0) : (tensor<1x4x8x8xf32>, tensor<8x4x3x3xf32>, none) '
        '-> tensor<1x8x8x8xf32> loc("y")\n'
    )
    wide = end.replace("1x4x8x8", "1x8x8x8")
    text = TOP % "good.npz" + NET.replace("-> tensor<1x4", "-> tensor<1x8") % (INPUT + conv + wide)
    (folder / "no_attributes.mlir").write_text(text)
    (folder / "two_functions.mlir").write_text(plain + plain)


def _write_chips(folder: Path) -> None:
    text = (CHIPS / "bm1684x.toml").read_text()
    (folder / "half.toml").write_text('name = "X"\n')
    (folder / "syntax.toml").write_text("name = \n")
    (folder / "negative.toml").write_text(text.replace("count = 64 ", "count = -64 "))
    (folder / "words.toml").write_text(text.replace("count = 64 ", 'count = "many" '))
    (folder / "truth.toml").write_text(text.replace("count = 64 ", "count = true "))
    (folder / "misspelt.toml").write_text(text.replace("[gdma]\n", "[gdma]\nlode_start = 9\n"))
    tiny = text.replace("bytes_per_lane = 262144", "bytes_per_lane = 64")
    (folder / "tiny.toml").write_text(tiny.replace("banks = 16", "banks = 4"))
    (folder / "lanes.toml").write_text(text.replace("count = 64 ", "count = 32 "))
    (folder / "little_ddr.toml").write_text(
        text.replace("bytes = 0x1_0000_0000 ", "bytes = 0x1000 ")
    )


def _write_tables(folder: Path) -> None:
    for model, data in (("cnn", {"image": IMAGE}), ("transformer", {"tokens": (1, 10, 24)})):
        random = np.random.default_rng(0)
        arrays: Any = {k: random.standard_normal(v, np.float32) for k, v in data.items()}
        np.savez(folder / f"{model}_samples.npz", **arrays)
        arguments = (folder / f"{model}.onnx", "--dataset", folder / f"{model}_samples.npz")
        more = ("-o", folder / f"{model}_table", "--quiet", "--engine", "interpreter")
        with pytest.raises(SystemExit, match="0"):
            calibrate(list(map(str, (*arguments, *more))))
    lines = (folder / "cnn_table").read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if line and not line.startswith("#"))
    for name, line in (
        ("nan_table", lines[at].split()[0] + " nan nan nan"),
        ("short_table", lines[at].split()[0]),
        ("words_table", lines[at].split()[0] + " much little more"),
    ):
        (folder / name).write_text("\n".join([*lines[:at], line, *lines[at + 1 :]]) + "\n")
    (folder / "cut_table").write_text("\n".join(lines[: at + 2]) + "\n")
    (folder / "empty_table").write_text("")
    (folder / "binary_table").write_bytes(b"\xff\xfe\x00\x01")
    (folder / "modes_unknown_op").write_text("no_such_layer F32\n")
    (folder / "modes_bad_mode").write_text("stem_relu_Relu F7\n")
    (folder / "modes_short").write_text("stem_relu_Relu\n")


def _write_programs(folder: Path) -> None:
    compile_model(folder / "cnn.onnx", folder / "compiled", "F16", "bm1684x")
    data = (folder / "compiled" / "model.bmodel").read_bytes()
    (folder / "good.bmodel").write_bytes(data)
    b = Builder(1)
    once = b.node("Mul", ["x", b.constant("by", 6e4)], "once")
    large = b.model({"x": (1, 8)}, {b.node("Mul", [once, once], "y"): (1, 8)})
    (folder / "large.onnx").write_bytes(large.SerializeToString())
    compile_model(folder / "large.onnx", folder / "large", "F16", "bm1684x")
    (folder / "large.bmodel").write_bytes((folder / "large" / "model.bmodel").read_bytes())
    (folder / "ids.onnx").write_bytes(parser.parse_model(ROWS).SerializeToString())
    compile_model(folder / "ids.onnx", folder / "rows", "F16", "bm1684x")
    (folder / "ids.bmodel").write_bytes((folder / "rows" / "model.bmodel").read_bytes())
    (folder / "cut.bmodel").write_bytes(data[:-1000])
    (folder / "head.bmodel").write_bytes(data[:10])
    (folder / "empty.bmodel").write_bytes(b"")
    (folder / "weights.bmodel").write_bytes(_damaged(data, 5000, bytes(64)))
    (folder / "magic.bmodel").write_bytes(_damaged(data, 0, b"ONNX"))
    (folder / "table.bmodel").write_bytes(_damaged(data, 64, b"\xff" * 64))
    flat = struct.unpack_from("<I", data, 8)[0]
    start = 64 + flat
    middle = start + (len(data) - start) // 2
    (folder / "commands.bmodel").write_bytes(_damaged(data, middle, b"\xa5" * 4096))


def _damaged(data: bytes, at: int, by: bytes) -> bytes:
    return data[:at] + by + data[at + len(by) :]


def _write_arrays(folder: Path) -> None:
    image = np.random.default_rng(0).standard_normal(IMAGE).astype(np.float32)
    holes = image.copy()
    holes[0, 1, 2, 3] = np.nan

    def save(name: str, **arrays: Any) -> None:
        np.savez(folder / f"{name}.npz", **arrays)

    save("image", image=image)
    save("fewer_channels", image=image[:, :2])
    save("holes", image=holes)
    save("huge", image=np.full(IMAGE, 1e300))
    rows = np.ones((4, 8), np.float32)
    save("beyond", ids=np.array([1, 4]), rows=rows)
    save("wide", ids=np.array([1, 1 << 31]), rows=rows)
    save("renamed", picture=image)
    save("extra", image=image, other=image)
    save("letters", image=np.full(IMAGE, "a"))
    save("complex", image=image * 1j)
    save("objects", image=np.array([{}, None]))
    save("no_arrays")
    np.save(folder / "array.npy", image[..., 1:])
    (folder / "cut.npz").write_bytes((folder / "image.npz").read_bytes()[:500])
