"""Ops written out in others: the same numbers as onnxruntime's."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import helper
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes.tensors import shape_of

Agree = Callable[..., ModuleOp]
ModelOf = Callable[..., onnx.ModelProto]
RNG = np.random.default_rng(11)
STEPS, BATCH, INPUT, HIDDEN = 4, 2, 3, 5
MODES = ("linear", "nearest")
PADDINGS = ("zeros", "border", "reflection")
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
SIZES = dict(zip("abcdefgh", (2, 3, 4, 5, 6, 3, 2, 3), strict=True))


def random(*shape: int) -> npt.NDArray[np.float32]:
    return RNG.standard_normal(shape).astype(np.float32)


def network(op: str, ways: int) -> dict[str, Any]:
    """Weights, recurrent weights and biases of all directions."""
    rows = GATES[op] * HIDDEN
    shapes = {"w": (ways, rows, INPUT), "r": (ways, rows, HIDDEN), "b": (ways, 2 * rows)}
    return {name: random(*shape) for name, shape in shapes.items()}


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("op", list(GATES))
def test_recurrent(agree: Agree, op: str, direction: str) -> None:
    ways = 2 if direction == "bidirectional" else 1
    names = ["y", "h", "c"] if op == "LSTM" else ["y", "h"]
    inputs = ["x", "w", "r", "b", "", "h0", *(["c0"] if op == "LSTM" else [])]
    node = helper.make_node(op, inputs, names, hidden_size=HIDDEN, direction=direction)
    states = {name: random(ways, BATCH, HIDDEN) for name in inputs[5:]}
    agree(node, {"x": random(STEPS, BATCH, INPUT), **states}, network(op, ways), names)


@pytest.mark.parametrize("op", list(GATES))
def test_sequences_of_different_lengths(agree: Agree, op: str) -> None:
    node = helper.make_node(
        op, ["x", "w", "r", "b", "n"], ["y", "h"], hidden_size=HIDDEN, direction="bidirectional"
    )
    constants = {**network(op, 2), "n": np.array([STEPS, 2], np.int32)}
    agree(node, {"x": random(STEPS, BATCH, INPUT)}, constants, ["y", "h"])


@pytest.mark.parametrize("op", ["RNN", "GRU", "LSTM"])
def test_other_activations_and_a_limit(agree: Agree, op: str) -> None:
    functions = {"RNN": ["Relu"], "GRU": ["HardSigmoid", "Relu"]}
    functions["LSTM"] = ["HardSigmoid", "Tanh", "Softsign"]
    node = helper.make_node(
        op, ["x", "w", "r"], ["y"], hidden_size=HIDDEN, activations=functions[op], clip=0.75
    )
    constants = network(op, 1)
    del constants["b"]
    agree(node, {"x": random(STEPS, BATCH, INPUT)}, constants)


def test_gates_before_the_reset_and_peepholes(agree: Agree) -> None:
    x = {"x": random(STEPS, BATCH, INPUT)}
    inputs = ["x", "w", "r", "b"]
    gru = helper.make_node("GRU", inputs, ["y"], hidden_size=HIDDEN, linear_before_reset=1)
    agree(gru, x, network("GRU", 1))
    lstm = helper.make_node("LSTM", [*inputs, "", "", "", "p"], ["y"], hidden_size=HIDDEN)
    agree(lstm, x, {**network("LSTM", 1), "p": random(1, 3 * HIDDEN)})


def test_weights_may_be_computed(agree: Agree) -> None:
    node = helper.make_node("GRU", ["x", "w", "r"], ["", "h"], hidden_size=HIDDEN)
    weights = network("GRU", 1)
    del weights["b"]
    agree(node, {"x": random(STEPS, BATCH, INPUT), **weights}, {}, ["h"])


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"input_forget": 1}, "coupled gates are not supported"),
        ({"activations": ["Affine", "Tanh", "Tanh"]}, r"\['Affine', 'Tanh', 'Tanh'\] are not"),
    ],
)
def test_refused_networks(model_of: ModelOf, attributes: dict[str, Any], message: str) -> None:
    node = helper.make_node("LSTM", ["x", "w", "r"], ["y"], hidden_size=HIDDEN, **attributes)
    x = {"x": random(STEPS, BATCH, INPUT)}
    with pytest.raises(TpuError, match=message):
        import_onnx(model_of([node], x, network("LSTM", 1), ["y"], 17))


@pytest.mark.parametrize(
    "equation",
    [
        "abcd,cde->abe",
        "abc,acd->abd",
        "a,b->ab",
        "a,a",
        "ab->b",
        "ab->ba",
        "ab->",
        "...ab,...bc->...ac",
        "ab...->...ba",
        "...bb->...b",
        "ab,bc,cd->ad",
        "bfh->",
        "abc,db->dc",
        "abcd,aecd,eacb,adf->ecf",
    ],
)
def test_einsum(agree: Agree, equation: str) -> None:
    terms = equation.split("->")[0].replace("...", "gh").split(",")
    inputs = {f"x{i}": random(*(SIZES[letter] for letter in term)) for i, term in enumerate(terms)}
    agree(helper.make_node("Einsum", list(inputs), ["y"], equation=equation), inputs)


@pytest.mark.parametrize(
    ("equation", "shapes", "operand"),
    [
        ("bsn,bhs->bhsn", ((2, 4, 5), (2, 3, 4)), (2, 4, 1, 5)),
        ("bhs,bns->bhns", ((2, 3, 4), (2, 5, 4)), (2, 1, 5, 4)),
        ("bts,bhts->bhts", ((2, 4, 5), (2, 3, 4, 5)), (2, 3, 4, 5)),
    ],
)
def test_einsum_without_sums_is_a_product_of_elements(
    agree: Agree, equation: str, shapes: tuple[tuple[int, ...], ...], operand: tuple[int, ...]
) -> None:
    """The larger operand is not transposed, and its last dimension stays last."""
    inputs = {name: random(*shape) for name, shape in zip("ab", shapes, strict=True)}
    module = agree(helper.make_node("Einsum", ["a", "b"], ["y"], equation=equation), inputs)
    (product,) = (op for op in module.walk() if isinstance(op, top.MulOp))
    assert not any(isinstance(op, top.MatMulOp) for op in module.walk())
    assert operand in [shape_of(value) for value in product.inputs]


def test_einsum_that_repeats_an_operand_is_refused(model_of: ModelOf) -> None:
    node = helper.make_node("Einsum", ["x", "z"], ["y"], equation="ab,b->a")
    model = model_of([node], {"x": random(2, 3), "z": random(1)}, {}, ["y"], 17)
    with pytest.raises(TpuError, match="Einsum"):
        import_onnx(model)


@pytest.mark.parametrize(
    ("op", "low", "high"), [("Asin", -1, 1), ("Atan", -50, 50), ("Asinh", -50, 50), ("Acosh", 1, 9)]
)
def test_inverse_functions(agree: Agree, op: str, low: float, high: float) -> None:
    x = np.linspace(low, high, 60, dtype=np.float32).reshape(3, 20)
    agree(helper.make_node(op, ["x"], ["y"]), {"x": x})


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("axis", [0, -1])
def test_lp_normalization(agree: Agree, p: int, axis: int) -> None:
    agree(helper.make_node("LpNormalization", ["x"], ["y"], p=p, axis=axis), {"x": random(3, 4, 5)})


@pytest.mark.parametrize(("axis", "opset"), [(1, 17), (-1, 17), (1, 11)])
def test_hardmax(agree: Agree, axis: int, opset: int) -> None:
    x = np.round(random(3, 4, 5))  # several largest: the first counts
    agree(helper.make_node("Hardmax", ["x"], ["y"], axis=axis), {"x": x}, opset=opset)


def test_selu(agree: Agree) -> None:
    agree(helper.make_node("Selu", ["x"], ["y"], alpha=1.5, gamma=0.75), {"x": random(3, 40)})


def test_shrink(agree: Agree) -> None:
    agree(helper.make_node("Shrink", ["x"], ["y"], lambd=0.75, bias=0.25), {"x": random(3, 40)})


@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("axes", [[0], [1, -1], [0, 1, 2]])
def test_reduce_prod(agree: Agree, axes: list[int], keepdims: int) -> None:
    x = random(3, 4, 7)
    agree(helper.make_node("ReduceProd", ["x"], ["y"], axes=axes, keepdims=keepdims), {"x": x})
    node = helper.make_node("ReduceProd", ["x", "a"], ["y"], keepdims=keepdims)
    agree(node, {"x": x}, {"a": np.array(axes)}, opset=18)


@pytest.mark.parametrize(
    ("mode", "padding"),
    [(mode, padding) for mode in (*MODES, "cubic") for padding in PADDINGS],
)
def test_grid_sample_on_a_constant_grid(agree: Agree, mode: str, padding: str) -> None:
    node = helper.make_node("GridSample", ["x", "g"], ["y"], mode=mode, padding_mode=padding)
    grid = RNG.uniform(-1.3, 1.3, (2, 3, 4, 2)).astype(np.float32)
    module = agree(node, {"x": random(2, 3, 5, 6)}, {"g": grid}, opset=20)
    assert "top.MatMul" in {op.name for op in module.walk()}


@pytest.mark.parametrize(("channels", "width"), [(3, 8), (3, 9), (64, 9)])
def test_grid_sample_is_a_product_where_its_matrix_is_small(
    agree: Agree, channels: int, width: int
) -> None:
    """A matrix has a number for each pixel and place, and is read in the time of 64 a place."""
    node = helper.make_node("GridSample", ["x", "g"], ["y"])
    grid = RNG.uniform(-1.3, 1.3, (2, 3, 4, 2)).astype(np.float32)
    module = agree(node, {"x": random(2, channels, 8, width)}, {"g": grid}, opset=20)
    is_product = "top.MatMul" in {op.name for op in module.walk()}
    assert is_product == (8 * width <= 64 * max(1, channels // 32))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "nearest"])
def test_grid_sample_of_opset_16_has_other_names_for_its_modes(agree: Agree, mode: str) -> None:
    node = helper.make_node("GridSample", ["x", "g"], ["y"], mode=mode)
    grid = RNG.uniform(-1.3, 1.3, (2, 3, 4, 2)).astype(np.float32)
    module = agree(node, {"x": random(2, 3, 5, 6)}, {"g": grid}, opset=16, tolerance=1e-4)
    assert "top.MatMul" in {op.name for op in module.walk()}


@pytest.mark.parametrize("aligned", [0, 1])
@pytest.mark.parametrize("spatial", [(4, 5), (2, 3), (2, 3, 4)], ids=str)
def test_affine_grid(agree: Agree, spatial: tuple[int, ...], aligned: int) -> None:
    node = helper.make_node("AffineGrid", ["t", "s"], ["y"], align_corners=aligned)
    theta = random(2, len(spatial), len(spatial) + 1)
    agree(node, {"t": theta}, {"s": np.array([2, 3, *spatial])}, opset=20)


@pytest.mark.parametrize("inverse", [0, 1])
@pytest.mark.parametrize("axis", [0, 1, -2])
def test_dft(agree: Agree, axis: int, inverse: int) -> None:
    node = helper.make_node("DFT", ["x", "", "a"], ["y"], inverse=inverse)
    agree(node, {"x": random(3, 4, 5, 2)}, {"a": np.array(axis)}, opset=20)


def test_dft_of_real_numbers_to_another_length(agree: Agree) -> None:
    node = helper.make_node("DFT", ["x", "n"], ["y"], axis=1, onesided=1)
    agree(node, {"x": random(3, 5, 1)}, {"n": np.array(8)}, opset=17)


@pytest.mark.parametrize(
    ("channels", "image", "block", "options"),
    [
        (3, (5, 4), (3, 2), {"pads": [1, 0, 1, 0], "strides": [2, 1]}),
        (1, (7, 6), (3, 2), {"pads": [1, 0, 1, 0], "strides": [2, 1]}),
        (1, (1, 47), (1, 12), {"strides": [1, 5]}),
        (2, (1, 48), (1, 12), {"strides": [1, 4], "pads": [0, 7, 0, 1]}),
        (1, (6, 9), (2, 3), {"strides": [2, 3]}),
        (1, (11,), (3,), {"strides": [2], "dilations": [2], "pads": [1, 2]}),
        (2, (1, 11), (1, 3), {"strides": [1, 2], "dilations": [1, 2], "pads": [0, 1, 0, 2]}),
        (1, (13, 14), (2, 3), {"strides": [3, 1], "dilations": [2, 3]}),
        (1, (5, 30), (1, 2), {"strides": [1, 4], "pads": [0, 2, 0, 0]}),
        (1, (1, 40), (1, 8), {"strides": [1, 16], "pads": [0, 0, 0, 16]}),
    ],
)
def test_col2im(
    agree: Agree,
    channels: int,
    image: tuple[int, ...],
    block: tuple[int, ...],
    options: dict[str, Any],
) -> None:
    rank = len(image)
    pads = options.get("pads", [0] * 2 * rank)
    steps = options.get("strides", [1] * rank), options.get("dilations", [1] * rank)
    columns = prod(
        (size + pads[axis] + pads[rank + axis] - (block[axis] - 1) * steps[1][axis] - 1)
        // steps[0][axis]
        + 1
        for axis, size in enumerate(image)
    )
    node = helper.make_node("Col2Im", ["x", "i", "b"], ["y"], **options)
    constants = {"i": np.array(image), "b": np.array(block)}
    agree(node, {"x": random(2, channels * prod(block), columns)}, constants, opset=18)


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_compress(agree: Agree, axis: int | None) -> None:
    attributes: dict[str, Any] = {} if axis is None else {"axis": axis}
    node = helper.make_node("Compress", ["x", "c"], ["y"], **attributes)
    agree(node, {"x": random(3, 4)}, {"c": np.array([True, False, True])})


def test_infinite_masks_are_numbers(agree: Agree) -> None:
    mask = np.triu(np.full((4, 4), -np.inf, np.float32), 1)
    nodes = [
        helper.make_node("Add", ["x", "m"], ["s"]),
        helper.make_node("Softmax", ["s"], ["y"], axis=-1),
    ]
    agree(nodes, {"x": random(2, 4, 4)}, {"m": mask})
