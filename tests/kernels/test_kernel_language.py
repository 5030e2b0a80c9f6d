"""Kernels of the building blocks of language models, against the interpreter."""

import numpy as np
import pytest
from tests.kernels.harness import Case, check, tensor

from xdsl_tpu.dialects.packed_weights import quantise


def packed(
    rows: int, depth: int, outputs: int, bits: int, group: int, bias: bool = True, kind: str = "f16"
) -> Case:
    """One product with a packed matrix."""
    case = Case(kind, seed=rows + depth + outputs)
    x = case.input("x", (1, rows, depth))
    generator = np.random.default_rng([depth, outputs])
    made = quantise(generator.standard_normal((outputs, depth)), bits, group)
    arrays = {"w": (made.values, "ui8"), "s": (made.scale, kind), "z": (made.zero, "ui8")}
    for name, (array, element) in arrays.items():
        case.weights[name] = array.astype(np.float32) if element == kind else array
        case.types[name] = tensor(array.shape, element)
        line = f'%{name} = "top.Weight"() : () -> {case.types[name]} loc("{name}")'
        case.lines.append(line)
    operands = [x, "w", "s", "z", case.weight("b", (1, 1, outputs)) if bias else "none"]
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
