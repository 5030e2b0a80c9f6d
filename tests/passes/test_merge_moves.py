"""`merge-moves`: chains of movement ops become one, and nothing else about the network changes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels.harness import Case, run
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context, module_text, parse_module
from xdsl_tpu.passes.pipeline import make_pass

Shape = tuple[int, ...]


def listed(numbers: Any) -> str:
    return str([int(n) for n in numbers])


def step(case: Case, value: str, shape: Shape, kind: str, n: int, rng: Any) -> tuple[str, Shape]:
    """One random movement op of this kind at the end of a chain."""
    name, none, rank = f"v{n}", "none", len(shape)
    match kind:
        case "permute":
            order: list[int] = rng.permutation(rank).tolist()
            out = tuple(shape[a] for a in order)
            return case.op("tpu.Permute", [value, none], {"order": listed(order)}, name, out), out
        case "reshape":
            size = int(np.prod(shape))
            first = int(rng.choice([k for k in range(1, size + 1) if size % k == 0]))
            out = (first, size // first)
            return case.op("tpu.Reshape", [value], {"shape": listed(out)}, name, out), out
        case "slice":
            starts = [int(rng.integers(0, n)) for n in shape]
            attributes = {"offset": listed(starts), "ends": listed(shape)}
            attributes["steps"] = listed([1] * rank)
            out = tuple(n - s for n, s in zip(shape, starts, strict=True))
            return case.op("tpu.Slice", [value, *[none] * 4], attributes, name, out), out
        case "pad":
            pads = [int(rng.integers(0, 3)) for _ in range(2 * rank)]
            border = f"{rng.choice([0.0, 1.0])} : f64"
            attributes = {"paddings": listed(pads), "val": border}
            attributes["mode"] = "#tpu<Pad_Mode constant>"
            out = tuple(n + pads[a] + pads[a + rank] for a, n in enumerate(shape))
            return case.op("tpu.Pad", [value, *[none] * 4], attributes, name, out), out
        case "tile":
            counts = [int(rng.integers(1, 3)) for _ in shape]
            out = tuple(n * k for n, k in zip(shape, counts, strict=True))
            return case.op("tpu.Tile", [value, none], {"tile": listed(counts)}, name, out), out
        case _:
            axis = int(rng.integers(0, rank))
            out = tuple(2 * n if a == axis else n for a, n in enumerate(shape))
            attributes = {"axis": f"{axis} : si32"}
            return case.op("tpu.Concat", [value, value], attributes, name, out), out


KINDS = ("permute", "reshape", "slice", "pad", "tile", "concat")


def chain(kinds: list[str], seed: int) -> Case:
    case, rng = Case("f16"), np.random.default_rng(seed)
    shape: Shape = tuple(int(n) for n in rng.integers(1, 8, rng.integers(2, 5)))
    value = case.input("x", shape)
    for n, kind in enumerate(kinds):
        value, shape = step(case, value, shape, kind, n, rng)
    return case


def merged(case: Case) -> ModuleOp:
    module = case.module()
    for name in ("weight-reorder", "subnet-divide", "merge-moves"):
        make_pass(name, "").apply(make_context(), module)
    module.verify()
    return module


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(KINDS), min_size=2, max_size=5), st.integers(0, 1000))
def test_values_stay(kinds: list[str], seed: int) -> None:
    case = chain(kinds, seed)
    (before,) = run_module(case.module(), case.inputs).values()
    module = merged(case)
    (after,) = run_module(parse_module(module_text(module)), case.inputs).values()
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("seed", range(6))
def test_the_machine_agrees(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tests.kernels.harness.PIPELINE",
        ("weight-reorder", "subnet-divide", "merge-moves", "address-assign"),
    )
    drawn: list[int] = np.random.default_rng(seed).integers(0, len(KINDS), 4).tolist()
    kinds = [KINDS[k] for k in drawn]
    outcome = run(chain(kinds, seed))
    np.testing.assert_array_equal(outcome.simulated, outcome.expected)


def kinds_of(module: ModuleOp) -> list[str]:
    return [op.name for op in module.walk() if op.name.startswith("tpu.")]


def test_a_chain_that_ends_where_it_began_is_a_reshape() -> None:
    case = Case("f16")
    value = case.input("x", (4, 5, 6))
    value = case.op("tpu.Permute", [value, "none"], {"order": "[2, 0, 1]"}, "there", (6, 4, 5))
    case.op("tpu.Permute", [value, "none"], {"order": "[1, 2, 0]"}, "back", (4, 5, 6))
    assert kinds_of(merged(case)) == ["tpu.Reshape"]


def test_the_first_elements_of_a_larger_value_are_no_reshape() -> None:
    case = Case("f16")
    value = case.input("x", (8, 2, 6))
    value = case.op("tpu.Permute", [value, "none"], {"order": "[1, 0, 2]"}, "turned", (2, 8, 6))
    steps = {"offset": "[0, 0, 0]", "ends": "[2, 8, 6]", "steps": "[2, 1, 1]"}
    value = case.op("tpu.Slice", [value, *["none"] * 4], steps, "first", (1, 8, 6))
    case.op("tpu.Permute", [value, "none"], {"order": "[0, 2, 1]"}, "y", (1, 6, 8))
    (before,) = run_module(case.module(), case.inputs).values()
    module = merged(case)
    (after,) = run_module(parse_module(module_text(module)), case.inputs).values()
    np.testing.assert_array_equal(before, after)
    turned_back = Case("f16")
    value = turned_back.input("x", (2, 48))
    steps = {"offset": "[0, 0]", "ends": "[2, 48]", "steps": "[2, 1]"}
    value = turned_back.op("tpu.Slice", [value, *["none"] * 4], steps, "first", (1, 48))
    turned_back.op("tpu.Permute", [value, "none"], {"order": "[1, 0]"}, "y", (48, 1))
    assert "tpu.Reshape" not in kinds_of(merged(turned_back))


def test_parts_that_are_views_stay_as_they_are() -> None:
    """Rows of a matrix lie where they should; reading them together would cost something."""
    case = Case("f16")
    value = case.input("x", (4, 64))
    rows: list[str] = []
    for n in range(2):
        attributes = {"offset": f"[{n}, 0]", "ends": f"[{n + 1}, 64]", "steps": "[1, 1]"}
        rows.append(case.op("tpu.Slice", [value, *["none"] * 4], attributes, f"r{n}", (1, 64)))
    case.op("tpu.Add", rows, {}, "y", (1, 64))
    assert kinds_of(merged(case)) == ["tpu.Slice", "tpu.Slice", "tpu.Add"]


@pytest.mark.parametrize(
    ("boxes", "complaint"),
    [
        ("[0, 0, 0, 1, 6, 1]", "end within one"),
        ("[1, 0, 0, 1, 6, 1, 1]", "not there"),
        ("[0, 0, 1, 1, 6, 1, 1]", "leaves its input"),
        ("[0, 0, 5, 1, 6, 1, -2]", "leaves its input"),
        ("[0, 0, 0, 1, 5, 1, 1]", "5 of 6 elements"),
    ],
)
def test_boxes_that_make_no_sense_are_refused(boxes: str, complaint: str) -> None:
    case = Case("f16")
    case.op("tpu.Rearrange", [case.input("x", (2, 3))], {"boxes": boxes}, "y", (3, 2))
    with pytest.raises(VerifyException, match=complaint):
        case.module().verify()


def test_a_rearrangement_says_what_it_moves() -> None:
    case = Case("f16")
    boxes = "[0, 0, 0, 2, 3, 2, 1, 2, 1, 3]"
    case.op("tpu.Rearrange", [case.input("x", (2, 3))], {"boxes": boxes}, "y", (3, 2))
    module = case.module()
    (y,) = run_module(module, case.inputs).values()
    np.testing.assert_array_equal(y, case.inputs["x"].T)
    (op,) = (op for op in module.walk() if isinstance(op, tpu.RearrangeOp))
    movement = op.movement()
    assert movement is not None
    assert str(tpu.RearrangeOp.listed(movement)) == boxes


CAST = {"with_scale": "true", "round_mode": "#tpu<round_mode HalfAwayFromZero>"}


def cast(shape: Shape, order: Shape, first: str = "f16", last: str = "f32") -> Case:
    """A permutation, and its result in another number format."""
    case, result = Case(first), tuple(shape[axis] for axis in order)
    x = case.input("x", shape)
    y = case.op("tpu.Permute", [x, "none"], {"order": listed(order)}, "y", result)
    case.op("tpu.Cast", [y], CAST, "z", result, last)
    return case


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_a_cast_to_f32_is_part_of_the_movement(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = cast((9, 4, 24, 56), (2, 0, 3, 1), kind)
    module = merged(case)
    assert kinds_of(module) == ["tpu.Rearrange"]
    (plain,), (after,) = (run_module(m, case.inputs).values() for m in (case.module(), module))
    assert np.array_equal(np.asarray(plain), np.asarray(after))
    monkeypatch.setattr(
        "tests.kernels.harness.PIPELINE",
        ("weight-reorder", "subnet-divide", "merge-moves", "address-assign"),
    )
    outcome = run(case)
    np.testing.assert_array_equal(outcome.simulated, outcome.expected)


def test_a_cast_that_rounds_stays_behind() -> None:
    module = merged(cast((9, 4, 24, 56), (2, 0, 3, 1), "f32", "f16"))
    assert kinds_of(module)[1:] == ["tpu.Cast"]
