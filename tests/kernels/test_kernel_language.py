"""Kernels of the building blocks of language models, against the interpreter."""

import numpy as np
import pytest
from tests.kernels.harness import Case, check, tensor

from xdsl_tpu.dialects.packed_weights import quantise


def matrix(
    case: Case, name: str, outputs: int, depth: int, bits: int, group: int, kind: str = "f16"
) -> list[str]:
    """A packed matrix: the names of weight, scale and zero point."""
    generator = np.random.default_rng([depth, outputs, *name.encode()])
    values = generator.standard_normal((outputs, depth)) / np.sqrt(depth)
    made = quantise(values, bits, group)
    names: list[str] = []
    arrays = (("w", made.values, "ui8"), ("s", made.scale, kind), ("z", made.zero, "ui8"))
    for label, array, element in arrays:
        one = f"{name}{label}"
        case.weights[one] = array.astype(np.float32) if element == kind else array
        case.types[one] = tensor(array.shape, element)
        line = f'%{one} = "top.Weight"() : () -> {case.types[one]} loc("{one}")'
        case.lines.append(line)
        names.append(one)
    return names


def packed(
    rows: int, depth: int, outputs: int, bits: int, group: int, bias: bool = True, kind: str = "f16"
) -> Case:
    """One product with a packed matrix."""
    case = Case(kind, seed=rows + depth + outputs)
    x = case.input("x", (1, rows, depth))
    biased = case.weight("b", (1, 1, outputs)) if bias else "none"
    operands = [x, *matrix(case, "m", outputs, depth, bits, group, kind), biased]
    attributes = {
        "weight_bits": f"{bits} : i64",
        "q_group_size": f"{group} : i64",
        "w_transpose": "true",
        "sign": "true",
        "dq_type": '"NONE"',
    }
    case.op("tpu.A16MatMul", operands, attributes, "y", (1, rows, outputs))
    return case


@pytest.mark.parametrize(
    ("rows", "depth", "outputs", "bits", "group", "bias"),
    [
        (1, 256, 128, 4, 64, True),
        (1, 256, 512, 4, 64, False),
        (1, 512, 256, 8, 64, True),
        (4, 256, 192, 4, 32, True),
        (8, 384, 128, 4, 128, False),
        (60, 128, 64, 4, 64, True),
        (61, 128, 64, 4, 64, True),
        (130, 256, 320, 4, 64, True),
        (200, 128, 200, 8, 32, False),
        (3, 96, 100, 4, 32, True),
        (1, 4480, 192, 4, 64, False),
        (1, 64, 9000, 4, 64, True),
        (1500, 2304, 128, 4, 64, True),
    ],
)
def test_packed_products(
    rows: int, depth: int, outputs: int, bits: int, group: int, bias: bool
) -> None:
    """Of few and many rows, in 4 and 8 bits, whatever the group; also in several pieces."""
    check(packed(rows, depth, outputs, bits, group, bias))


def test_packed_products_in_bf16() -> None:
    check(packed(4, 256, 128, 4, 64, kind="bf16"))


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize(("rows", "depth", "outputs"), [(1, 128, 320), (70, 128, 192)])
def test_sums_of_packed_products_in_f32(rows: int, depth: int, outputs: int, kind: str) -> None:
    """Of few rows, and of a matrix that stays: exact but for the order of the sums."""
    case = packed(rows, depth, outputs, 4, 64, bias=False, kind=kind)
    case.types["y"] = tensor((1, rows, outputs), "f32")
    signature, _, _ = case.lines.pop().rpartition(" -> ")
    case.lines.append(f'{signature} -> {case.types["y"]} loc("y")')
    check(case)


@pytest.mark.parametrize(
    ("rows", "depth", "outputs"), [(2, 128, 192), (130, 128, 320), (200, 2304, 2304)]
)
def test_rows_added_to_packed_products(rows: int, depth: int, outputs: int) -> None:
    """Of few rows, of a matrix that stays, and of one that does not."""
    case = packed(rows, depth, outputs, 4, 64, bias=False)
    residual = case.input("r", (1, rows, outputs))
    line = case.lines.pop().replace(", %none)", ", %none, %r)")
    case.lines.append(line.replace(", none) ->", f", none, {case.types[residual]}) ->"))
    check(case)


@pytest.mark.parametrize("mode", ["contiguous_halves", "interleaved_pairs"])
@pytest.mark.parametrize(
    ("tokens", "heads", "size"), [(1, 12, 128), (3, 2, 64), (70, 4, 64), (640, 12, 128)]
)
def test_rotary_positions(tokens: int, heads: int, size: int, mode: str) -> None:
    case = Case("f16", seed=tokens + heads)
    x = case.input("x", (1, tokens, heads, size))
    angles = [case.input(name, (1, tokens, 1, size)) for name in ("sine", "cosine")]
    attributes = {"rope_mode": f"#tpu<rope_mode {mode}>"}
    case.op("tpu.Rope", [x, *angles], attributes, "y", (1, tokens, heads, size))
    check(case)


@pytest.mark.parametrize(
    ("rows", "depth", "inner", "outputs", "bits"),
    [(65, 128, 192, 64, 4), (128, 64, 320, 576, 8), (300, 256, 2048, 200, 4)],
)
@pytest.mark.parametrize(("precision", "sums"), [("fast", True), ("close", False)])
def test_gated_blocks(
    rows: int, depth: int, inner: int, outputs: int, bits: int, precision: str, sums: bool
) -> None:
    """What lies between the products stays on the chip, for one chunk of rows and for several."""
    case = Case("f16", seed=rows)
    operands = [case.input("x", (1, rows, depth))]
    for name, sizes in (("g", (inner, depth)), ("u", (inner, depth)), ("d", (outputs, inner))):
        operands += [*matrix(case, name, *sizes, bits, 64), "none"]
    attributes = {
        "weight_bits": f"{bits} : i64",
        "q_group_size": "64 : i64",
        "w_transpose_down": "true",
        "quantized": "true",
    }
    operands += ["none", "none", *([case.input("r", (1, rows, outputs))] if sums else [])]
    case.op("tpu.Mlp", operands, attributes, "y", (1, rows, outputs))
    case.precision = precision
    check(case)


@pytest.mark.parametrize(
    ("rows", "depth", "inner", "outputs", "biased", "sums", "up", "mode"),
    [
        (65, 128, 192, 64, True, True, True, "SILU"),
        (65, 128, 192, 64, True, True, False, "GELU"),
        (128, 40, 100, 200, True, False, True, "GELU"),
        (130, 256, 320, 300, False, True, True, "TGELU"),
        (130, 256, 320, 300, False, False, False, "SILU"),
        (300, 32, 16000, 32, False, True, False, "SILU"),
    ],
)
def test_feed_forward_blocks_of_floats(
    rows: int, depth: int, inner: int, outputs: int, biased: bool, sums: bool, up: bool, mode: str
) -> None:
    """Matrices pass by once for each chunk of rows, which the last shape has several of."""
    case = Case("f16", seed=rows)
    operands = [case.input("x", (1, rows, depth))]
    for name, sizes in (("g", (inner, depth)), ("u", (inner, depth)), ("d", (outputs, inner))):
        if name == "u" and not up:
            operands += ["none"] * 4
            continue
        weight = case.weight(name, sizes, scale=sizes[1] ** -0.5)
        bias = case.weight(f"{name}_bias", (1, 1, 1, sizes[0])) if biased else "none"
        operands += [weight, "none", "none", bias]
    attributes = {"w_transpose_down": "true", "activation": f"#tpu<active_mode {mode}>"}
    operands += ["none", "none", *([case.input("r", (1, rows, outputs))] if sums else [])]
    case.op("tpu.Mlp", operands, attributes, "y", (1, rows, outputs))
    check(case)
