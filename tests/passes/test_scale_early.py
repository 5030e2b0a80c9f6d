"""Factors in front of products and in weights: the same numbers, and who else reads them."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, compiled, kinds, random_inputs
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.passes.calibration.ranges import Range, set_range
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.pipelines import Settings, run_stage
from xdsl_tpu.passes.scale_early.scale import LEAST

PASS = "scale-early"
ROWS, WIDTH, DEPTH, HEADS = 20, 12, 4, 3


def part(net: Net, name: str, value: SSAValue, axis: int, first: int, end: int) -> SSAValue:
    bounds = {"axes": [axis], "offset": [first], "ends": [end], "steps": [1]}
    return net.op(top.SliceOp, name, (value, *[net.none] * 3), **bounds)


def permuted(net: Net, name: str, value: SSAValue, *order: int) -> SSAValue:
    return net.op(top.PermuteOp, name, (value,), order=order)


def reshaped(net: Net, name: str, value: SSAValue, *shape: int) -> SSAValue:
    return net.op(top.ReshapeOp, name, (value,), shape=shape)


def projected(net: Net, name: str, x: SSAValue, columns: int = WIDTH, **more: bool) -> SSAValue:
    given = net.weight(f"{name}_w", WIDTH, columns), net.weight(f"{name}_b", 1, 1, columns)
    return net.op(top.MatMulOp, name, (x, *given), **more)


def scores(net: Net, q: SSAValue, k: SSAValue, factor: float = 0.5) -> SSAValue:
    """softmax(factor * q k^T), k as rows are turned already."""
    product = net.op(top.MatMulOp, "s", (q, k, net.none))
    return softmax(net, net.op(top.MulConstOp, "m", (product,), const_val=factor))


def softmax(net: Net, value: SSAValue) -> SSAValue:
    return net.op(top.SoftmaxOp, "softmax", (value,), axis=-1)


def other(net: Net, columns: int = WIDTH) -> SSAValue:
    """What no weights make."""
    return net.op(top.AbsOp, "other", (net.input("o", 1, columns, ROWS),))


def last_two(module: ModuleOp) -> Sequence[str]:
    """Before the Softmax and what is moved for it."""
    return [kind for kind in kinds(module) if kind not in ("Softmax", "Reshape")][-2:]


def joint_by_columns(net: Net) -> SSAValue:
    qkv = projected(net, "qkv", net.input("x", 1, ROWS, WIDTH), 3 * WIDTH)
    q, k, v = (part(net, n, qkv, 2, i * WIDTH, (i + 1) * WIDTH) for i, n in enumerate("qkv"))
    a = scores(net, q, permuted(net, "kt", k, 0, 2, 1))
    return net.op(top.MatMulOp, "y", (a, v, net.none))


def joint_by_heads(net: Net) -> SSAValue:
    """Queries, keys and values are taken of a Permute."""
    qkv = projected(net, "qkv", net.input("x", 1, ROWS, WIDTH), 3 * WIDTH)
    five = reshaped(net, "five", qkv, 1, ROWS, 3, HEADS, DEPTH)
    first = permuted(net, "first", five, 2, 0, 3, 1, 4)
    q, k, v = (part(net, n, first, 0, i, i + 1) for i, n in enumerate("qkv"))
    q, k, v = (net.op(top.SqueezeOp, f"s{i}", (x,), axes=[0]) for i, x in enumerate((q, k, v)))
    a = scores(net, q, permuted(net, "kt", k, 0, 1, 3, 2))
    return net.op(top.MatMulOp, "y", (a, v, net.none))


def joint_in_two_forms(net: Net) -> SSAValue:
    """The form that keys are taken of holds queries, too, which nobody takes of it."""
    qk = projected(net, "qk", net.input("x", 1, ROWS, WIDTH), 2 * WIDTH)
    both = permuted(net, "both", qk, 0, 2, 1)
    return scores(net, part(net, "q", qk, 2, 0, WIDTH), part(net, "k", both, 1, WIDTH, 2 * WIDTH))


def joint_of_image(net: Net) -> SSAValue:
    filters = net.weight("w", 2 * WIDTH, 5, 1, 1), net.weight("b", 2 * WIDTH)
    image = net.input("x", 1, 5, 4, 5)
    qk = net.op(
        top.ConvOp, "qk", (image, *filters), kernel_shape=(1, 1), strides=(1, 1), pads=(0,) * 4
    )
    rows = reshaped(net, "rows", qk, 1, 2 * WIDTH, ROWS)
    q, k = part(net, "q", rows, 1, 0, WIDTH), part(net, "k", rows, 1, WIDTH, 2 * WIDTH)
    return scores(net, permuted(net, "qt", q, 0, 2, 1), k)


def queries_of_scale(net: Net) -> SSAValue:
    x = net.op(top.AbsOp, "xa", (net.input("x", ROWS, WIDTH),))
    q = net.op(top.ScaleOp, "q", (x, net.weight("w", 1, WIDTH), net.weight("b", 1, WIDTH)))
    return scores(net, reshaped(net, "rows", q, 1, ROWS, WIDTH), other(net))


def queries_of_norm(net: Net) -> SSAValue:
    x = net.input("x", 1, ROWS, WIDTH)
    given = x, net.weight("w", WIDTH), net.weight("b", WIDTH)
    q = net.op(top.LayerNormOp, "q", given, normalized_shape=[WIDTH], axis=2, eps=1e-5)
    return scores(net, q, other(net))


def queries_of_rms(net: Net) -> SSAValue:
    q = net.op(
        top.RMSNormOp, "q", (net.input("x", 1, ROWS, WIDTH), net.weight("w", WIDTH)), eps=1.0
    )
    return scores(net, q, other(net))


def turned_weights(net: Net) -> SSAValue:
    given = net.input("x", 1, ROWS, 7), net.weight("w", WIDTH, 7), net.none
    return scores(net, net.op(top.MatMulOp, "q", given, right_transpose=True), other(net))


def keys_alone(net: Net) -> SSAValue:
    """Queries have a relu behind their weights, keys none."""
    x = net.input("x", 1, ROWS, WIDTH)
    q = projected(net, "q", x, do_relu=True)
    k = permuted(net, "kt", projected(net, "k", x), 0, 2, 1)
    return scores(net, q, k)


def moved_scores(net: Net) -> SSAValue:
    """Between product and factor."""
    q = projected(net, "q", net.input("x", 1, ROWS, WIDTH))
    s = net.op(top.MatMulOp, "s", (q, other(net), net.none))
    turned = permuted(net, "st", reshaped(net, "sr", s, ROWS, ROWS), 1, 0)
    return net.op(top.MulConstOp, "m", (turned,), const_val=-0.5)


@pytest.mark.parametrize(
    "build",
    [
        joint_by_columns,
        joint_by_heads,
        joint_in_two_forms,
        joint_of_image,
        queries_of_scale,
        queries_of_norm,
        queries_of_rms,
        turned_weights,
        keys_alone,
        moved_scores,
    ],
)
def test_weights_take_factors_in(build: Callable[[Net], SSAValue]) -> None:
    net = Net()
    after = assert_same_numbers(net.module(build(net)), PASS)
    assert "MulConst" not in kinds(after)


def read_elsewhere(net: Net) -> SSAValue:
    q = projected(net, "q", net.input("x", 1, ROWS, WIDTH))
    return net.op(top.MatMulOp, "y", (scores(net, q, other(net)), q, net.none))


def shared_columns(net: Net) -> SSAValue:
    qk = projected(net, "qk", net.input("x", 1, ROWS, WIDTH), 9)
    q, k = part(net, "q", qk, 2, 0, 5), part(net, "k", qk, 2, 4, 9)
    return scores(net, q, permuted(net, "kt", k, 0, 2, 1))


def with_themselves(net: Net) -> SSAValue:
    q = projected(net, "q", net.input("x", 1, ROWS, WIDTH))
    return scores(net, q, permuted(net, "kt", q, 0, 2, 1))


def behind_relu(net: Net) -> SSAValue:
    q = projected(net, "q", net.input("x", 1, ROWS, WIDTH), do_relu=True)
    return scores(net, q, other(net))


def behind_mean(net: Net) -> SSAValue:
    """A norm behind the weights takes their factor away."""
    q = projected(net, "q", net.input("x", 1, ROWS, WIDTH))
    norm = (q, net.none, net.none)
    q = net.op(top.LayerNormOp, "n", norm, normalized_shape=[WIDTH], axis=2, eps=1e-5)
    return scores(net, q, other(net))


@pytest.mark.parametrize(
    "build", [read_elsewhere, shared_columns, with_themselves, behind_relu, behind_mean]
)
def test_else_the_operand_is_multiplied(build: Callable[[Net], SSAValue]) -> None:
    net = Net()
    found = kinds(assert_same_numbers(net.module(build(net)), PASS))
    assert found[found.index("MulConst") + 1] == "MatMul"


def plain_scores(factor: float, columns: int = WIDTH, **more: bool) -> ModuleOp:
    net = Net()
    q = net.op(top.AbsOp, "q", (net.input("x", 1, ROWS, columns),))
    product = net.op(top.MatMulOp, "s", (q, other(net, columns), net.none), **more)
    scaled = net.op(top.MulConstOp, "m", (product,), const_val=factor)
    return net.module(softmax(net, reshaped(net, "r", scaled, ROWS, ROWS)))


@pytest.mark.parametrize(
    ("factor", "columns", "moves"),
    [
        (1.0, WIDTH, True),
        (1.001, WIDTH, False),  # numbers that f16 holds might be beyond it then
        (LEAST, WIDTH, True),
        (-LEAST, WIDTH, True),
        (LEAST * 0.99, WIDTH, False),  # or lose digits
        (0.5, ROWS - 1, True),
        (0.5, ROWS, False),  # as many elements as scores
    ],
)
def test_operands_are_multiplied_where_that_is_less(
    factor: float, columns: int, moves: bool
) -> None:
    after = assert_same_numbers(plain_scores(factor, columns), PASS)
    assert last_two(after) == (["MulConst", "MatMul"] if moves else ["MatMul", "MulConst"])


def test_relus_and_masks_keep_the_factor_behind_them() -> None:
    relu = assert_same_numbers(plain_scores(0.5, do_relu=True), PASS)
    assert last_two(relu) == ["MatMul", "MulConst"]
    net = Net()
    product = net.op(top.MatMulOp, "s", (net.input("q", 1, ROWS, WIDTH), other(net), net.none))
    masked = net.op(top.AddOp, "a", (product, net.input("mask", 1, ROWS, ROWS)))
    module = net.module(softmax(net, net.op(top.MulConstOp, "m", (masked,), const_val=0.5)))
    assert last_two(assert_same_numbers(module, PASS)) == ["Add", "MulConst"]


def test_what_no_softmax_reads_keeps_the_factor_behind_it() -> None:
    net = Net()
    product = net.op(top.MatMulOp, "s", (net.input("q", 1, ROWS, WIDTH), other(net), net.none))
    module = net.module(net.op(top.MulConstOp, "m", (product,), const_val=0.5))
    assert last_two(assert_same_numbers(module, PASS)) == ["MatMul", "MulConst"]


@pytest.mark.parametrize(("least", "taken"), [(0.1, True), (1e-4, False)])
def test_weights_that_f16_held_worse_stay(least: float, taken: bool) -> None:
    net = Net()
    matrix = net.weight("w", values=np.full((WIDTH, WIDTH), least, np.float32))
    q = net.op(top.MatMulOp, "q", (net.input("x", 1, ROWS, WIDTH), matrix, net.none))
    after = assert_same_numbers(net.module(scores(net, q, other(net), 0.25)), PASS)
    assert ("MulConst" not in kinds(after)) == taken


def test_integers_keep_their_factors() -> None:
    module = plain_scores(0.5)
    module.attributes["module.mode"] = StringAttr("INT8")
    assert last_two(compiled(module, PASS)) == ["MatMul", "MulConst"]
    ranged = plain_scores(0.5)
    for op in ranged.walk():
        if isinstance(op, top.AbsOp | top.MatMulOp | top.MulConstOp):
            set_range(op.results[0], Range(-4.0, 4.0))
    make_pass(PASS).apply(make_context(), ranged)
    assert last_two(ranged) == ["MatMul", "MulConst"]


@pytest.mark.parametrize("with_weights", [True, False])
def test_scores_are_within_f16_that_only_scaled_ones_are(with_weights: bool) -> None:
    """64 products of 60 * 100 are beyond 65,504; an eighth of them is not."""

    def built() -> ModuleOp:
        net = Net()
        x = net.input("x", 1, 80, WIDTH)
        q = net.weight("q_w", values=np.full((WIDTH, 64), 60 / WIDTH, np.float32))
        value = net.op(top.MatMulOp, "q", (x, q, net.none), do_relu=not with_weights)
        keys = net.op(top.MulConstOp, "k", (net.input("k", 1, 64, 80),), const_val=100.0)
        scaled = scores(net, value, net.op(top.AbsOp, "ka", (keys,)), 0.125)
        return net.module(scaled)

    inputs = {name: np.ones_like(array) for name, array in random_inputs(built(), 0).items()}
    (wanted,) = run_module(built(), inputs).values()
    finite: list[bool] = []
    for disable in ((), (PASS,)):
        module = built()
        for stage in ("top", "tpu"):
            run_stage(module, stage, Settings(disable=disable))
        (found,) = run_module(module, inputs).values()
        finite.append(bool(np.isfinite(found).all()))
        if finite[-1]:
            np.testing.assert_allclose(found, wanted, atol=1e-3)
    assert finite == [True, False]
