"""Moving bytes between tensors in DDR: every element is the interpreter's."""

import pytest
from tests.kernels.harness import Shape
from tests.quantized.quant_cases import S8, U8, QuantCase, check

KINDS = {"i8": S8, "u8": U8}


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_concat(axis: int, kind: str) -> None:
    case = QuantCase()
    shapes = [[2, 67, 5, 9], [2, 67, 5, 9]]
    shapes[1][axis] = 3
    names = [case.integers(f"x{i}", tuple(shape), KINDS[kind]) for i, shape in enumerate(shapes)]
    result = [*shapes[0]]
    result[axis] += 3
    case.op("tpu.Concat", names, {"axis": f"{axis} : si32"}, "y", tuple(result), KINDS[kind])
    check(case)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("axis", [1, 2, 3])
@pytest.mark.parametrize("step", [1, 2])
def test_slice(axis: int, step: int, kind: str) -> None:
    case = QuantCase()
    shape = (2, 131, 12, 17)
    offset, steps, ends, result = [0] * 4, [1] * 4, [*shape], [*shape]
    offset[axis], steps[axis], ends[axis] = 3, step, 11
    result[axis] = 8 // step
    attributes = {"offset": str(offset), "steps": str(steps), "ends": str(ends)}
    x = case.integers("x", shape, KINDS[kind])
    case.op("tpu.Slice", [x, *["none"] * 4], attributes, "y", tuple(result), KINDS[kind])
    check(case)


@pytest.mark.parametrize("order", [(0, 2, 1, 3), (0, 2, 3, 1), (0, 3, 1, 2), (0, 1, 3, 2)], ids=str)
def test_permute(order: tuple[int, ...]) -> None:
    case = QuantCase()
    shape = (2, 70, 13, 33)
    result = tuple(shape[axis] for axis in order)
    x = case.integers("x", shape)
    case.op("tpu.Permute", [x, "none"], {"order": str(list(order))}, "y", result, S8)
    check(case)


@pytest.mark.parametrize(
    ("op", "shape", "result"),
    [
        ("Reshape", (2, 70, 6, 5), (2, 70, 30)),
        ("Squeeze", (2, 70, 1, 5), (2, 70, 5)),
        ("Unsqueeze", (2, 70, 5), (2, 70, 1, 5)),
    ],
)
def test_other_shapes(op: str, shape: Shape, result: Shape) -> None:
    case = QuantCase()
    x = case.integers("x", shape, U8)
    operands = [x, "none"] if op == "Reshape" else [x]
    attributes = {"axes": "[2]"} if op != "Reshape" else {}
    moved = case.op(f"tpu.{op}", operands, attributes, "m", result, U8)
    case.op("tpu.Relu", [moved], {}, "y", result, U8)
    check(case)


def test_swap_of_two_parts() -> None:
    case = QuantCase()
    x = case.integers("x", (1, 14, 14, 8))
    case.op("tpu.SwapDimInner", [x], {"offset": "[0, 3, 11, 0]"}, "y", (1, 14, 14, 8), S8)
    check(case)
