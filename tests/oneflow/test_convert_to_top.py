"""convert-oneflow-to-top: every op, and networks, give the same numbers before and after."""

import numpy as np
import pytest
from tests.oneflow.jobs import NETWORKS, SAMPLES, Array, inputs_of, job
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import oneflow
from xdsl_tpu.dialects.interpreters import SUPPORTED_OPS, run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.oneflow import OneFlow
from xdsl_tpu.dialects.random_masks import masks_of
from xdsl_tpu.dialects.text import make_context, module_text, parse_module
from xdsl_tpu.dialects.top import NoneOp, WeightOp
from xdsl_tpu.dialects.weights import attach, weights_of
from xdsl_tpu.passes.oneflow_to_top.convert import CONVERTERS
from xdsl_tpu.passes.pipeline import make_pass

ALL = SAMPLES | NETWORKS


def apply(module: ModuleOp, *passes: str) -> ModuleOp:
    """The module after passes, read from its text, with the same weights."""
    after = parse_module(module_text(module))
    attach(after, weights_of(module))
    for one in passes:
        name, _, options = one.partition(" ")
        make_pass(name, options).apply(make_context(), after)
        after.verify()
    return after


def outputs(module: ModuleOp, inputs: dict[str, Array]) -> list[Array]:
    return list(run_module(module, inputs).values())


def assert_close(found: list[Array], expected: list[Array], tolerance: float = 2e-6) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        scale = max(1.0, float(np.abs(other).max()))
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize("name", ALL)
def test_same_numbers(name: str) -> None:
    before = job(ALL[name])
    inputs = inputs_of(before)
    expected = outputs(before, inputs)
    top = apply(before, "convert-oneflow-to-top")
    assert not any(op.name.startswith("oneflow.") for op in top.walk())
    assert_close(outputs(top, inputs), expected)
    simple = apply(top, "shape-infer", "canonicalize", "extra-optimize")
    assert_close(outputs(simple, inputs), expected)


@pytest.mark.parametrize("name", ALL)
def test_every_op_has_a_name_of_its_own(name: str) -> None:
    top = apply(job(ALL[name]), "convert-oneflow-to-top")
    ops = [op for op in top.walk() if op.name.startswith("top.") and not isinstance(op, NoneOp)]
    names = [name_of(op) for op in ops]
    assert None not in names
    assert len(set(names)) == len(names)


def test_every_op_is_converted_or_has_no_need_to_be() -> None:
    kept = {
        oneflow.InputOp, oneflow.JobOp, oneflow.OutputOp, oneflow.ReturnOp, oneflow.VariableIROp,
        oneflow.VariableOp,
    }  # fmt: skip
    ops = set(OneFlow.operations)
    assert ops - kept == set(CONVERTERS)
    assert ops - {oneflow.JobOp} <= SUPPORTED_OPS
    sampled = {type(op) for build in ALL.values() for op in job(build).walk()}
    assert not ops - sampled


def test_fused_jobs_convert_to_the_same_program() -> None:
    plain = job(NETWORKS["cnn"])
    fused = apply(plain, "fuse-bias-add-dropout")
    assert any(isinstance(op, oneflow.FusedBiasAddMaskScaleOp) for op in fused.walk())
    one, other = (
        apply(module, "convert-oneflow-to-top", "shape-infer", "canonicalize")
        for module in (plain, fused)
    )
    assert [op.name for op in one.walk()] == [op.name for op in other.walk()]
    ((_, mask),) = masks_of(one).items()
    ((_, same),) = masks_of(other).items()
    assert mask == same
    assert_close(outputs(other, inputs_of(plain)), outputs(plain, inputs_of(plain)))


def test_variables_of_one_name_are_one_weight() -> None:
    def build(b: oneflow.JobBuilder) -> SSAValue:
        x = b.input("x", 4, 4)
        y = b.op(oneflow.MatmulOp, "m1", x, b.variable("w", 4, 4))
        return b.op(oneflow.MatmulOp, "m2", y, b.variable("w", 4, 4))

    before = job(build)
    top = apply(before, "convert-oneflow-to-top")
    assert sum(isinstance(op, WeightOp) for op in top.walk()) == 1
    assert_close(outputs(top, inputs_of(before)), outputs(before, inputs_of(before)))
