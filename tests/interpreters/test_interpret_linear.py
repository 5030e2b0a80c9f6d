"""Matrix products, normalisations and recurrent layers against onnxruntime."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import TensorType, f32

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters.numerics.linear import MatMulFlags, matmul

Array = npt.NDArray[Any]
Run = Callable[..., list[Array]]
Make = Callable[..., Array]


def close(ours: Array, theirs: Array) -> None:
    """Equal in shape, and in value but for the last places of f32."""
    assert ours.dtype == np.float32
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3, 4), (4, 5)),
        ((2, 3, 4), (4, 5)),
        ((2, 3, 4), (1, 4, 5)),
        ((2, 3, 4), (2, 4, 5)),
        ((2, 1, 3, 4), (5, 4, 6)),
        ((3, 4), (2, 4, 5)),
        ((4,), (4, 5)),
        ((2, 3, 4), (4,)),
        ((1, 1, 4), (1, 4, 1)),
    ],
)
def test_matmul(
    run_op: Run, run_onnx: Run, normal: Make, left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    x, y = normal(*left), normal(*right, seed=1)
    expected = run_onnx("MatMul", [x, y])[0]
    close(run_op(top.MatMulOp, [x, y, None])[0], expected)
    types = [TensorType(f32, expected.shape)]
    close(run_op(tpu.MatMulOp, [x, y, None, None, None], types)[0], expected)


def test_gemm(run_op: Run, run_onnx: Run, normal: Make) -> None:
    x, w, b = normal(3, 4), normal(5, 4, seed=1), normal(5, seed=2)
    expected = run_onnx("Gemm", [x, w, b], transB=1)[0]
    close(run_op(top.MatMulOp, [x, w, b], right_transpose=True)[0], expected)
    (ranked,) = run_op(top.MatMulOp, [x, w, b.reshape(1, 5)], right_transpose=True, do_relu=True)
    close(ranked, np.maximum(expected, 0))


@pytest.mark.parametrize("flags", list(itertools.product([False, True], repeat=4)))
def test_matmul_flags(run_op: Run, normal: Make, flags: tuple[bool, bool, bool, bool]) -> None:
    """Every combination of the three transposes and the batched second dimension."""
    left_transpose, right_transpose, output_transpose, hdim = flags
    x, y, b = normal(2, 3, 4, 5), normal(2, 3, 5, 6, seed=1), normal(6, seed=2)
    expected = x @ y + b
    if left_transpose:
        x = x.swapaxes(2, 3)
    if right_transpose:
        y = y.swapaxes(2, 3)
    if output_transpose:
        expected = expected.swapaxes(2, 3)
    if hdim:
        x, y, expected = (a.transpose(0, 2, 1, 3) for a in (x, y, expected))
    (found,) = run_op(
        top.MatMulOp,
        [np.ascontiguousarray(x), np.ascontiguousarray(y), b],
        left_transpose=left_transpose,
        right_transpose=right_transpose,
        output_transpose=output_transpose,
        hdim_is_batch=hdim,
    )
    close(found, expected)


def test_matmul_without_keeping_dimensions(run_op: Run, normal: Make) -> None:
    x, y = normal(2, 3, 4), normal(4, 5, seed=1)
    (found,) = run_op(top.MatMulOp, [x, y, None], keep_dims=False)
    close(found, (x @ y).reshape(6, 5))


def test_one_batch_of_weights_gives_one_large_product(normal: Make) -> None:
    """Not a batched product of small ones: same numbers as the plain two-dimensional case."""
    x, w = normal(7, 9, 16), normal(1, 16, 24, seed=1)
    assert np.array_equal(matmul(x, w, None, MatMulFlags()), matmul(x, w[0], None, MatMulFlags()))


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("abc,adc->abd", ((2, 3, 4), (2, 5, 4))),
        ("abcd,cde->abe", ((2, 3, 4, 5), (4, 5, 6))),
        ("abcd,aecd->acbe", ((2, 3, 4, 5), (2, 6, 4, 5))),
        ("a,b->ab", ((3,), (4,))),
    ],
)
def test_einsum(
    run_op: Run,
    run_onnx: Run,
    normal: Make,
    equation: str,
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
) -> None:
    operands = [normal(*shapes[0]), normal(*shapes[1], seed=1)]
    expected = run_onnx("Einsum", operands, equation=equation)[0]
    close(run_op(top.EinsumOp, operands, mode=equation)[0], expected)


def test_attention_is_softmax_of_scaled_scores(run_op: Run, run_onnx: Run, normal: Make) -> None:
    q, k, v, mask = (normal(2, 3, 4, 8, seed=s) for s in range(4))
    mask = mask[:1, :1, :, :4]
    scores = run_onnx("MatMul", [q, k.swapaxes(2, 3).copy()])[0] / np.float32(np.sqrt(8)) + mask
    expected = run_onnx("Softmax", [scores])[0] @ v
    close(run_op(top.ScaleDotProductAttentionOp, [q, k, v, mask])[0], expected)
    (causal,) = run_op(top.ScaleDotProductAttentionOp, [q, k, v, None], is_causal=True)
    close(causal[:, :, 0], v[:, :, 0])


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("log", [False, True])
def test_softmax(run_op: Run, run_onnx: Run, normal: Make, axis: int, log: bool) -> None:
    x = normal(3, 4, 5) * 20
    expected = run_onnx("LogSoftmax" if log else "Softmax", [x], axis=axis)[0]
    close(run_op(top.SoftmaxOp, [x], axis=axis, log=log)[0], expected)
    operands = [x, None, None, None, None, None]
    types = [TensorType(f32, x.shape)]
    close(run_op(tpu.SoftmaxOp, operands, types, axis=axis, log=log)[0], expected)
    scaled = run_onnx("Softmax", [x * 2], axis=axis)[0]
    close(run_op(top.SoftmaxOp, [x], axis=axis, beta=2.0)[0], scaled)


@pytest.mark.parametrize("axis", [1, 2, -1])
@pytest.mark.parametrize("affine", [True, False])
def test_layer_norm(run_op: Run, run_onnx: Run, normal: Make, axis: int, affine: bool) -> None:
    x = normal(3, 4, 6) * 5 + 100
    trailing = x.shape[axis:]
    w, b = normal(*trailing, seed=1), normal(*trailing, seed=2)
    if not affine:
        w, b = np.ones_like(w), np.zeros_like(b)
    expected = run_onnx("LayerNormalization", [x, w, b], axis=axis, epsilon=1e-3)[0]
    attributes: dict[str, Any] = {"axis": axis, "eps": 1e-3, "normalized_shape": list(trailing)}
    if affine:
        ranked = [w.reshape(*(1,) * (x.ndim - w.ndim), *w.shape) for w in (w, b)]
        found = run_op(top.LayerNormOp, [x, *ranked], **attributes)[0]
    else:
        found = run_op(top.LayerNormOp, [x, None, None], **attributes)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_group_norms(run_op: Run, run_onnx: Run, normal: Make) -> None:
    x, w, b = normal(2, 6, 4, 5) * 3 + 1, normal(6, seed=1), normal(6, seed=2)
    ranked = [a.reshape(1, 6, 1, 1) for a in (w, b)]
    ones, zeros = np.ones(3, np.float32), np.zeros(3, np.float32)
    parts = [x.reshape(2, 3, 40), ones, zeros]
    expected = run_onnx("InstanceNormalization", parts, epsilon=1e-4)[0].reshape(x.shape)
    (found,) = run_op(top.GroupNormOp, [x, *ranked], num_groups=3, eps=1e-4)
    close(found, expected * ranked[0] + ranked[1])
    expected = run_onnx("InstanceNormalization", [x, w, b], epsilon=1e-4)[0]
    close(run_op(top.InstanceNormOp, [x, w, b], eps=1e-4)[0], expected)
    channels_last = x.transpose(0, 2, 3, 1).copy()
    pixel = run_onnx("LayerNormalization", [channels_last, w, b], epsilon=1e-4)[0]
    close(run_op(top.PixelNormOp, [x, w, b], eps=1e-4)[0], pixel.transpose(0, 3, 1, 2))


def test_other_norms(run_op: Run, run_onnx: Run, normal: Make) -> None:
    x, gamma = normal(2, 6, 4, 5), normal(5, seed=1)
    expected = x / np.sqrt(np.mean(x * x, -1, keepdims=True) + 1e-6) * gamma
    close(run_op(top.RMSNormOp, [x, gamma], eps=1e-6)[0], expected.astype(np.float32))
    w, b, mean, var = (normal(6, seed=s) for s in range(4))
    expected = run_onnx("BatchNormalization", [x, w, b, mean, np.abs(var)], epsilon=1e-3)[0]
    (found,) = run_op(top.BatchNormOp, [x, mean, np.abs(var), w, b], epsilon=1e-3)
    close(found, expected)
    lrn = {"size": 5, "alpha": 0.1, "beta": 0.6, "bias": 1.5}
    close(run_op(top.LRNOp, [x], **lrn)[0], run_onnx("LRN", [x], **lrn)[0])
    length = run_onnx("LpNormalization", [x], axis=1, p=2)[0] * w.reshape(1, 6, 1, 1)
    close(run_op(top.NormalizeOp, [x, w])[0], length)


DIRECTIONS = [("forward", False), ("bidirectional", True)]


@pytest.mark.parametrize(("direction", "both"), DIRECTIONS)
@pytest.mark.parametrize("batch_first", [False, True])
def test_lstm(
    run_op: Run, run_onnx: Run, normal: Make, direction: str, both: bool, batch_first: bool
) -> None:
    d, h = 1 + both, 5
    x = normal(7, 2, 3)
    w, r, b = normal(d, 4 * h, 3, seed=1), normal(d, 4 * h, h, seed=2), normal(d, 8 * h, seed=3)
    h0, c0 = normal(d, 2, h, seed=4), normal(d, 2, h, seed=5)
    operands = [x, w, r, b, None, h0, c0]
    expected = run_onnx("LSTM", operands, results=3, hidden_size=h, direction=direction)
    if batch_first:
        x, h0, c0 = (a.swapaxes(0, 1).copy() for a in (x, h0, c0))
        expected = [expected[0].transpose(2, 0, 1, 3), *(a.swapaxes(0, 1) for a in expected[1:])]
    attributes: dict[str, Any] = {"hidden_size": h, "bidirectional": both}
    kept = h0.copy()
    found = run_op(top.LSTMOp, [x, w, r, b, h0, c0, None], 3, batch_first=batch_first, **attributes)
    assert np.array_equal(h0, kept)
    for ours, theirs in zip(found, expected, strict=True):
        close(ours, theirs)


@pytest.mark.parametrize(("direction", "both"), DIRECTIONS)
@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
def test_gru(
    run_op: Run,
    run_onnx: Run,
    normal: Make,
    direction: str,
    both: bool,
    linear: bool,
    with_bias: bool,
) -> None:
    d, h = 1 + both, 4
    x, w, r = normal(6, 3, 2), normal(d, 3 * h, 2, seed=1), normal(d, 3 * h, h, seed=2)
    b = normal(d, 6 * h, seed=3) if with_bias else None
    attributes: dict[str, Any] = {"hidden_size": h}
    expected = run_onnx(
        "GRU",
        [x, w, r, b],
        results=2,
        direction=direction,
        linear_before_reset=int(linear),
        **attributes,
    )
    found = run_op(
        top.GRUOp,
        [x, w, r, b, None],
        2,
        bidirectional=both,
        linear_before_reset=linear,
        **attributes,
    )
    for ours, theirs in zip(found, expected, strict=True):
        close(ours, theirs)
