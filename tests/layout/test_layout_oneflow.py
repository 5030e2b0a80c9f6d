"""The layout passes on jobs: every op, networks, and what must stay as it is."""

from collections.abc import Callable

import pytest
from tests.oneflow.jobs import NETWORKS, SAMPLES, conv, inputs_of, job, norm, pool
from tests.oneflow.test_convert_to_top import apply, assert_close, outputs
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import oneflow
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.oneflow import JobBuilder
from xdsl_tpu.dialects.text import make_context, module_text, parse_module
from xdsl_tpu.passes.layout.count import transpositions
from xdsl_tpu.passes.pipeline import make_pass

PASSES = ["auto-nhwc", "transfer-layout target=NHWC", "transfer-layout target=NCHW cost=cycles"]
FIRST, LAST = [0, 3, 1, 2], [0, 2, 3, 1]
Make = Callable[[JobBuilder, SSAValue], SSAValue]


def kinds(module: ModuleOp) -> list[str]:
    """The ops between input and output, variables aside."""
    ops = (op.name.removeprefix("oneflow.") for op in module.walk())
    return [op for op in ops if op not in ("builtin.module", "job", "input", "variable")][:-2]


def same(before: ModuleOp, *passes: str) -> ModuleOp:
    """The module after the passes, which computes the same under the same names."""
    inputs = inputs_of(before)
    expected = outputs(before, inputs)
    after = apply(before, *passes)
    assert_close(outputs(after, inputs), expected)
    names = [name_of(op) for op in after.walk() if isinstance(op, oneflow.OneFlowOp)]
    assert len(set(names)) == len(names)
    return after


@pytest.mark.parametrize("one", PASSES)
@pytest.mark.parametrize("name", NETWORKS)
def test_networks(name: str, one: str) -> None:
    same(job(NETWORKS[name]), one)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_op(name: str) -> None:
    """To channel-last by either pass and back again."""
    before = job(SAMPLES[name])
    if any(isinstance(op, oneflow.DropoutOp) for op in before.walk()):
        assert kinds(apply(before, "auto-nhwc")) == ["dropout"]
    same(before, "auto-nhwc", "transfer-layout target=NCHW")
    same(before, "transfer-layout target=NHWC", "transfer-layout target=NCHW")


def article(b: JobBuilder) -> SSAValue:
    """x -> conv -> relu -> conv -> relu -> out."""
    x = b.input("x", 1, 4, 6, 6)
    for number in range(2):
        x = b.op(oneflow.ReluOp, f"relu{number}", conv(b, f"conv{number}", x, 4))
    return x


def test_article_example_gives_its_simplified_form() -> None:
    after = same(job(article), "auto-nhwc")
    assert kinds(after) == ["transpose", "conv2d", "relu", "conv2d", "relu", "transpose"]
    perms = [ints(op.perm) for op in after.walk() if isinstance(op, oneflow.TransposeOp)]
    assert perms == [tuple(LAST), tuple(FIRST)]
    for op in after.walk():
        if isinstance(op, oneflow.Conv2DOp):
            assert op.data_format.data == "channels_last"
        if isinstance(op, oneflow.TransposeOp):
            assert op.device_tag
            assert op.device_tag.data == "cuda"
            assert op.device_name is not None
    assert kinds(same(after, "transfer-layout target=NCHW")) == ["conv2d", "relu"] * 2


def test_minimum_cut_of_the_article_example() -> None:
    after = same(job(article), "transfer-layout target=NHWC")
    assert transpositions(after).count == 2
    assert kinds(same(after, "transfer-layout target=NCHW")) == ["conv2d", "relu"] * 2


def test_without_numbers_variables_keep_their_names() -> None:
    """Text that says nothing of its weights: what reads it later has the old arrays."""
    before = job(article)
    del before.attributes["module.weight_file"]
    after = parse_module(module_text(before))
    make_pass("transfer-layout", "target=NHWC").apply(make_context(), after)
    variables = [op for op in after.walk() if isinstance(op, oneflow.VariableOp)]
    assert [name_of(op) for op in variables] == ["conv0.weight", "conv1.weight"]
    assert all(
        isinstance(use.operation, oneflow.TransposeOp) for op in variables for use in op.output.uses
    )
    assert transpositions(after).count == 2  # those of constants cost nothing


@pytest.mark.parametrize("one", PASSES[:2])
def test_jobs_on_a_cpu_stay(one: str) -> None:
    module = job(article, device_tag="cpu")
    before = module_text(module)
    name, _, options = one.partition(" ")
    make_pass(name, options).apply(make_context(), module)
    assert module_text(module) == before


SANDWICHED: dict[str, Make] = {
    "bias_add": lambda b, x: b.op(oneflow.BiasAddOp, "y", x, b.variable("b", 6), axis=1),
    "broadcast_add": lambda b, x: b.op(
        oneflow.BroadcastAddOp, "y", x, b.variable("c", 6, 1, 1)
    ),
    "broadcast_mul of rows": lambda b, x: b.op(
        oneflow.BroadcastMulOp, "y", x, b.variable("c", 4, 8)
    ),
    "cast": lambda b, x: b.op(oneflow.CastOp, "y", x, dtype=2),
    "cat of itself": lambda b, x: b.op(oneflow.CatOp, "y", x, x, axis=1, max_dim_size=12),
    "conv2d added to": lambda b, x: conv(b, "y", x, 6, more=x),
    "fused_bias_add_gelu": lambda b, x: b.op(
        oneflow.FusedBiasAddGeluOp, "y", x, b.variable("b", 4), axis=2
    ),
    "group_norm": lambda b, x: b.op(
        oneflow.GroupNormOp, "y", x, num_groups=3, epsilon=1e-5, data_format="channels_first"
    ),
    "layer_norm": lambda b, x: b.op(
        oneflow.LayerNormOp, "y", x, b.variable("beta", 6, 4, 8), b.variable("gamma", 6, 4, 8),
        center=True, scale=True, begin_norm_axis=1, begin_params_axis=1, epsilon=1e-5,
    ),
    "max pool": lambda b, x: pool(b, oneflow.MaxPool2DOp, "y", x),
    "narrow": lambda b, x: b.op(oneflow.NarrowOp, "y", x, dim=1, start=2, length=3),
    "normalization added to": lambda b, x: norm(b, "y", x, more=x),
    "reduce_mean": lambda b, x: b.op(oneflow.ReduceMeanOp, "y", x, axis=[2, 3], keepdims=True),
    "scalar_div": lambda b, x: b.op(
        oneflow.ScalarDivOp, "y", x, has_int_operand=True, int_operand=2
    ),
    "silu": lambda b, x: b.op(oneflow.SiluOp, "y", x),
    "reshape": lambda b, x: b.op(oneflow.ReshapeOp, "y", x, shape=[2, 6, 2, 16]),
    "sum": lambda b, x: b.op(oneflow.AddNOp, "y", x, x, x),
}  # fmt: skip


@pytest.mark.parametrize("kind", SANDWICHED)
def test_op_between_transpositions_needs_none(kind: str) -> None:
    def build(b: JobBuilder) -> SSAValue:
        x = b.op(oneflow.TransposeOp, "to_first", b.input("x", 2, 4, 8, 6), perm=FIRST)
        return b.op(oneflow.TransposeOp, "to_last", SANDWICHED[kind](b, x), perm=LAST)

    after = same(job(build), "transfer-layout target=NHWC")
    assert transpositions(after).count == 0


def test_pool_whose_indices_are_read_stays() -> None:
    def build(b: JobBuilder) -> SSAValue:
        shape = {"padding": [1, 1], "kernel_size": [3, 3], "stride": [2, 2], "dilation": [1, 1]}
        y, places = b.ops(
            oneflow.MaxPool2DOp, "pool", b.input("x", 1, 4, 8, 8),
            data_format="channels_first", **shape,
        )  # fmt: skip
        return b.op(oneflow.CatOp, "y", y, b.op(oneflow.CastOp, "places", places), axis=1)

    after = same(job(build), "auto-nhwc")
    assert kinds(after) == ["max_pool_2d", "cast", "cat"]


def test_softmax_keeps_the_last_dimension() -> None:
    def build(b: JobBuilder) -> SSAValue:
        x = conv(b, "conv", b.input("x", 1, 4, 8, 8), 4)
        return b.op(oneflow.SoftmaxOp, "y", x)

    after = same(job(build), "transfer-layout target=NHWC")
    assert kinds(after) == ["transpose", "conv2d", "transpose", "softmax"]


def test_products_read_factors_transposed() -> None:
    def build(b: JobBuilder) -> SSAValue:
        left, right = b.input("l", 2, 4, 6), b.input("r", 2, 5, 4)
        turned = [
            b.op(oneflow.TransposeOp, f"t{number}", value, perm=[0, 2, 1])
            for number, value in enumerate((left, right))
        ]
        return b.op(oneflow.BatchMatmulOp, "y", *turned)

    after = same(job(build), "transfer-layout")
    assert kinds(after) == ["batch_matmul"]


def test_names_of_results_stay() -> None:
    before = job(article)
    inputs = inputs_of(before)
    for one in PASSES:
        after = apply(before, one)
        assert run_module(after, inputs).keys() == run_module(before, inputs).keys()


def test_attributes_and_locations_are_kept() -> None:
    """Old names of segment sizes, unknown attributes and locations come through a rewrite."""
    text = """
oneflow.job @j(%x: tensor<1x4x6x6xf32>, %w: tensor<4x4x1x1xf32>) -> tensor<1x4x6x6xf32> {
  %y = "oneflow.conv2d"(%x, %w) {data_format = "channels_first",
    dilation_rate = [1 : si32, 1 : si32], device_name = ["@0:0"], device_tag = "gpu",
    filters = 4 : si32, groups = 1 : si32,
    hierarchy = [1], kernel_size = [1 : si32, 1 : si32], op_name = "c", op_type_name = "conv2d",
    operand_segment_sizes = dense<[1, 1, 0, 0]> : vector<4xi32>,
    padding_before = [0 : si32, 0 : si32], scope_symbol_id = 7 : i64,
    strides = [1 : si32, 1 : si32]}
    : (tensor<1x4x6x6xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x6x6xf32> loc("net.py":3:4)
  oneflow.return %y : tensor<1x4x6x6xf32>
}
"""
    module = parse_module(text)
    (before,) = (op for op in module.walk() if isinstance(op, oneflow.Conv2DOp))
    attributes, location = dict(before.attributes), before.location
    make_pass("transfer-layout", "target=NHWC").apply(make_context(), module)
    module.verify()
    (after,) = (op for op in module.walk() if isinstance(op, oneflow.Conv2DOp))
    changed = {k for k in attributes if after.attributes.get(k) != attributes[k]}
    assert changed == {"data_format"}
    assert after.location == location
    for op in module.walk():
        if isinstance(op, oneflow.TransposeOp):
            assert {op.attributes[key] for key in ("device_tag", "scope_symbol_id")} == {
                attributes["device_tag"], attributes["scope_symbol_id"],
            }  # fmt: skip
