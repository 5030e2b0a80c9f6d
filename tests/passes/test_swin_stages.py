"""Swin-T and ViT through all stages: what is left of their transposes, and of the vendor's ops."""

from collections import Counter
from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest
from tests.passes.real_networks import Fact, apply, cosine, example, facts, real_text
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import module_text, parse_module
from xdsl_tpu.passes.pipelines import Settings, patterns_of, run_stage
from xdsl_tpu.passes.tensors import is_weight, shape_of

SWIN, VIT = "swin_t", "vit_small_patch16_224"
BLOCKS = 12
SHIFTED = 5
"""Blocks whose attention has a mask beside its bias."""

OWN = (
    "RemovePermute",
    "MulConstBeforePermute",
    "TopMultiSwapDimMergeToOne",
    "MergeMulConst",
    "NarrowActive",
    "RowToPixel",
    "CastBeforeMove",
    "merge-rows",
    "orient-heads",
    "scale-early",
)
"""Patterns and passes that do more than the vendor's compiler on these networks."""


@cache
def optimized(name: str, mode: str, disable: tuple[str, ...] = ()) -> ModuleOp:
    """The network after `processor-tpu-optimize`, for all tests that look at it."""
    module = example(name)
    for stage in ("top", "tpu"):
        run_stage(module, stage, Settings(mode, disable=disable))
    off = ",".join(sorted(patterns_of("processor-tpu-optimize").intersection(disable)))
    options = f"disable={off}" if off else ""
    return apply(module, ("strip-io-quant", ""), ("processor-tpu-optimize", options))


def between(module: ModuleOp) -> list[set[Operation]]:
    """For each block the ops from the QKV products (excluded) to the projection (excluded)."""
    found: list[set[Operation]] = []
    for op in module.walk():
        if isinstance(op, tpu.MatMulOp) and "/attn/proj/" in str(name_of(op)):
            seen: set[Operation] = set()
            _collect(op.input, seen)
            found.append(seen)
    return found


def _collect(value: SSAValue, seen: set[Operation]) -> None:
    op = value.owner
    assert isinstance(op, Operation)
    if isinstance(op, tpu.GroupOp) and isinstance(value, OpResult):  # through its border
        last = op.body.block.last_op
        assert last is not None
        _collect(last.operands[value.index], seen)
        return
    if op in seen or (isinstance(op, tpu.MatMulOp) and _is_constant(op.right)):
        return
    seen.add(op)
    for operand in op.operands:
        if not _is_constant(operand) and not is_none(operand):
            _collect(operand, seen)


def _is_constant(value: SSAValue) -> bool:
    """Whether a value is a weight, or one that a group has loaded."""
    owner = value.owner
    return is_weight(owner.input if isinstance(owner, tpu.LoadOp) else value)


@pytest.mark.parametrize(
    ("name", "permutes", "mode"),
    [(SWIN, 21, "F32"), (SWIN, 21, "F16"), (VIT, 1, "F32"), (VIT, 1, "F16"), (VIT, 1, "BF16")],
)
def test_no_permute_is_left_in_any_attention(name: str, permutes: int, mode: str) -> None:
    module = optimized(name, mode)
    blocks = between(module)
    assert len(blocks) == BLOCKS
    for block in blocks:
        counts = Counter(op.name for op in block)
        assert counts["tpu.MatMul"] == 2
        assert counts["tpu.Softmax"] == 1
        assert counts["tpu.Permute"] == 0
        assert counts["tpu.Slice"] == counts["tpu.Squeeze"] == 0
    found = sum(isinstance(op, tpu.PermuteOp) for op in module.walk())
    rows_of_patches = mode == "F32" and name == VIT  # they become channels
    assert found == permutes + rows_of_patches


@pytest.mark.parametrize(
    ("name", "pattern", "blocks"),
    [
        (SWIN, "MatmulWithPermuteAndSplit", BLOCKS),
        (SWIN, "MatMulHdimBatchPattern", BLOCKS),
        (VIT, "PermuteReorderPattern", BLOCKS - 1),  # of the last, one row is left to move
    ],
)
def test_permutes_in_attention_would_be_found(name: str, pattern: str, blocks: int) -> None:
    """The walk above sees those that a pattern less leaves, in every block with whole rows."""
    found = between(optimized(name, "F16", (pattern,)))
    assert len(found) == BLOCKS
    counts = [sum(isinstance(op, tpu.PermuteOp) for op in block) for block in found]
    assert sum(map(bool, counts)) == blocks


def test_five_dimensional_slices_appear_without_the_patterns_that_replace_them() -> None:
    """The optimisation as first published: one product, then Slice and Squeeze of its parts."""
    off = ("SplitMatMulPattern", "ReshapeSliceSqueezePattern")
    module = optimized(SWIN, "F16", off)
    slices = [op for op in module.walk() if isinstance(op, tpu.SliceOp)]
    parts = [op for op in slices if len(shape_of(op.input)) == 5]
    assert len(parts) == 3 * BLOCKS
    for op in parts:
        before, after = shape_of(op.input), shape_of(op.output)
        assert (before[2], after[2]) == (3, 1)
        assert before[:2] == after[:2]
        assert before[3:] == after[3:]
        assert isinstance(next(iter(op.output.uses)).operation, tpu.SqueezeOp)
    assert not any(isinstance(op, tpu.SqueezeOp) for op in optimized(SWIN, "F16").walk())


@pytest.mark.parametrize("name", [SWIN, VIT])
def test_attention_without_permutes_computes_the_same(name: str) -> None:
    x = np.random.default_rng(5).standard_normal((1, 3, 224, 224)).astype(np.float32)
    (expected,) = run_module(example(name), [x]).values()
    for mode, least in (("F32", 0.9999999), ("F16", 0.99999)):
        (actual,) = run_module(optimized(name, mode), [x]).values()
        assert cosine(actual, expected) >= least


Facts = Mapping[str, Fact]


@cache
def swin_stages(disable: tuple[str, ...]) -> Mapping[str, Facts]:
    """What Swin-T's ops are after each stage whose result the vendor prints."""
    module = example(SWIN)
    found: dict[str, Facts] = {}
    for stage, real in (("top", ""), ("tpu", "_bm1684x_f16_tpu")):
        run_stage(module, stage, Settings(disable=disable))
        found[real] = facts(parse_module(module_text(module)), with_operands=False)
    last = "processor-tpu-optimize"
    without = ",".join(patterns_of(last).intersection(disable))
    apply(module, ("strip-io-quant", ""), (last, f"disable={without}" if without else ""))
    found["_bm1684x_f16_tpu_opt"] = facts(parse_module(module_text(module)), with_operands=False)
    return found


def differences(real: str, disable: tuple[str, ...]) -> tuple[Counter[str], Counter[str], int]:
    """Ops only we have, ops only the vendor has, and ops of one name that differ."""
    ours = swin_stages(disable)[real]
    theirs = facts(parse_module(real_text(SWIN + real)), with_operands=False)
    return (
        Counter(ours[name].op for name in ours.keys() - theirs.keys()),
        Counter(theirs[name].op for name in theirs.keys() - ours.keys()),
        sum(ours[name] != theirs[name] for name in ours.keys() & theirs.keys()),
    )


def test_without_our_own_patterns_swin_is_the_vendors() -> None:
    """Op by op with names, attributes and types: 562 and 544 ops, but for names of 8 Reshapes.

    Where the vendor adds the mask of shifted windows to the bias beforehand, both are added here.
    """
    apart = {"top.Weight": 2 * SHIFTED}
    for stage, kind in (("", "top"), ("_bm1684x_f16_tpu", "tpu")):
        ours, theirs, different = differences(stage, OWN)
        assert ours == {f"{kind}.Reshape": 8, f"{kind}.Add": SHIFTED} | apart
        assert theirs == {f"{kind}.Reshape": 8, "top.Weight": SHIFTED}
        assert different == SHIFTED


def test_after_the_tpu_patterns_only_the_mlp_differs() -> None:
    """The vendor's compiler splits MLPs in two here; Permutes of one window are Reshapes for us."""
    ours, theirs, different = differences("_bm1684x_f16_tpu_opt", OWN)
    mlp = {"tpu.MatMul": 2, "tpu.Cast": 2, "tpu.Active": 1}
    names = {kind: count * BLOCKS for kind, count in mlp.items()}
    names |= {"top.Weight": ours["top.Weight"], "tpu.Reshape": 8, "tpu.Add": SHIFTED}
    assert ours == names
    assert theirs["tpu.Permute"] == 4
    assert theirs["tpu.MatMul"] == 2 * ours["tpu.MatMul"]
    assert theirs["tpu.Add"] == BLOCKS
    assert different == 2 + 2 * SHIFTED


def test_our_own_patterns_save_ops() -> None:
    """Scales go into weights, pairs of rotations become one, Permutes of one window none, casts
    around GELU (two in each of the vendor's half MLPs) go."""
    ours, theirs, _ = differences("_bm1684x_f16_tpu_opt", ())
    assert theirs["tpu.MulConst"] == BLOCKS
    assert theirs["tpu.SwapDimInner"] == 10
    assert ours["tpu.MulConst"] == ours["tpu.SwapDimInner"] == ours["tpu.Permute"] == 0
    assert theirs["tpu.Cast"] - ours["tpu.Cast"] == 4 * BLOCKS
