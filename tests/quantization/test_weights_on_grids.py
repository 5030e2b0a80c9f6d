"""Models that bring matrices in 4 bits keep them when products are packed."""

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.packed_weights import unpack
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes.pipelines import Quantization, Settings, run_stage
from xdsl_tpu.passes.tensors import required_name

Array = npt.NDArray[Any]

DEPTH, COLUMNS = 256, 64


def model(node: onnx.NodeProto, constants: dict[str, Array]) -> onnx.ModelProto:
    nodes = [node]
    if node.op_type == "DequantizeLinear":
        nodes.append(helper.make_node("MatMul", ["x", "d"], ["y"], "y"))
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 4, size))
        for name, size in (("x", DEPTH), ("y", COLUMNS))
    ]
    stored = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "few", values[:1], values[1:], stored)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def drawn(kind: str, block: int) -> tuple[onnx.ModelProto, Array]:
    """A product by a matrix in blocks of 4 bits, and the matrix's q - z, [COLUMNS, DEPTH]."""
    rng = np.random.default_rng(block)
    q = rng.integers(0, 16, (COLUMNS, DEPTH))
    z = rng.integers(5, 12, (COLUMNS, DEPTH // block))
    s = rng.uniform(0.01, 0.02, z.shape).astype(np.float16).astype(np.float32)
    numbers = q - np.repeat(z, block, 1)
    if kind == "DequantizeLinear":
        dtype = helper.tensor_dtype_to_np_dtype(TensorProto.INT4)
        arrays = {"w": (q - 8).T.astype(dtype), "s": s.T.copy(), "z": (z - 8).T.astype(dtype)}
        node = helper.make_node(kind, ["w", "s", "z"], ["d"], "d", axis=0, block_size=block)
        return model(node, arrays), numbers
    packed = (q[:, ::2] | q[:, 1::2] << 4).reshape(COLUMNS, DEPTH // block, block // 2)
    zeros = z[:, ::2] | z[:, 1::2] << 4
    arrays: dict[str, Array] = {"w": packed.astype(np.uint8), "s": s.reshape(-1)}
    arrays["z"] = zeros.astype(np.uint8).reshape(-1)
    sizes: dict[str, Any] = {"N": COLUMNS, "K": DEPTH, "bits": 4, "block_size": block}
    node = helper.make_node(kind, ["x", "w", "s", "z"], ["y"], "y", domain="com.microsoft", **sizes)
    return model(node, arrays), numbers


def packed(source: onnx.ModelProto, bits: int, group: int) -> ModuleOp:
    module = import_onnx(source)
    settings = Settings("F16", quantization=Quantization(weight_bits=bits, group=group))
    run_stage(module, "top", settings)
    return module


@pytest.mark.parametrize("kind", ["MatMulNBits", "DequantizeLinear"])
@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize(
    ("block", "group"), [(32, 32), (64, 64), (64, 32), (32, 0), (64, 0), (128, 0)]
)
def test_integers_stay_bit_for_bit(kind: str, bits: int, block: int, group: int) -> None:
    source, numbers = drawn(kind, block)
    module = packed(source, bits, group)
    (product,) = (op for op in module.walk() if isinstance(op, top.A16MatMulOp))
    made = product.q_group_size.value.data
    assert made == (group or min(block, 64))
    weights = weights_of(module)
    assert weights is not None
    names = [required_name(value) for value in (product.weight, product.zp)]
    values, zero = (weights[name] for name in names)
    found = unpack(values, bits).astype(int) - np.repeat(zero, made, 1)
    np.testing.assert_array_equal(found, numbers)
    x = np.random.default_rng(0).standard_normal((1, 4, DEPTH)).astype(np.float32)
    (ours,), (own,) = (run_module(one, [x]).values() for one in (module, import_onnx(source)))
    np.testing.assert_allclose(ours, own, atol=1e-5)


def test_floats_have_groups_of_the_usual_size() -> None:
    """Also where single groups happen to lie on a grid."""
    values = np.random.default_rng(1).standard_normal((DEPTH, COLUMNS)).astype(np.float32)
    values[:32] = np.rint(values[:32] * 2)
    module = packed(model(helper.make_node("MatMul", ["x", "w"], ["y"], "y"), {"w": values}), 4, 0)
    (product,) = (op for op in module.walk() if isinstance(op, top.A16MatMulOp))
    assert product.q_group_size.value.data == 64
