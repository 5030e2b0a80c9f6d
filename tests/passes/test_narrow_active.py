"""`NarrowActive`: f16 functions without f32 around them compute the same, and when they stay."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, ops_of
from xdsl.dialects.builtin import ModuleOp, StringAttr, bf16, f16, f32

from xdsl_tpu.backend.kernels.sequences.table import EXACT, SEQUENCES
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.precision import ATTRIBUTE, precision_of
from xdsl_tpu.passes.processor_tpu_optimize.narrow_active import NARROW_MODES
from xdsl_tpu.passes.tensors import element_of

FUNCTIONS = {
    "ELU": top.EluOp,
    "GELU": top.GELUOp,
    "MISH": top.MishOp,
    "SIGMOID": top.SigmoidOp,
    "SILU": top.SiLUOp,
    "TANH": top.TanhOp,
}


def narrowed(function: str, mode: str = "F16", options: str = "") -> ModuleOp:
    """A product, the function and a sum, lowered and optimised; the numbers stay."""
    net = Net()
    x = net.input("x", 6, 64)
    product = net.op(top.MatMulOp, "mm", (x, net.weight("w", 64, 64), net.none))
    options_of = {"alpha": 0.75} if function == "ELU" else {}
    y = net.op(FUNCTIONS[function], "y", (product,), **options_of)
    end = net.op(top.AddOp, "end", (y, product))
    return assert_same_numbers(
        net.module(end),
        f"convert-top-to-tpu{{mode={mode} chip=bm1684x}},processor-tpu-optimize{options}",
        tolerance={"F16": 4e-3, "BF16": 8e-2, "F32": 1e-5}[mode],
    )


def active(module: ModuleOp) -> tpu.ActiveOp:
    (op,) = ops_of(module, tpu.ActiveOp)
    assert isinstance(op, tpu.ActiveOp)
    return op


@pytest.mark.parametrize("function", list(FUNCTIONS))
def test_f16_networks_compute_their_functions_in_f16(function: str) -> None:
    assert element_of(active(narrowed(function)).output) == f16


@pytest.mark.parametrize("precision", ["fast", "close"])
@pytest.mark.parametrize("op", [top.SinOp, top.CosOp])
def test_sines_of_f16_numbers_are_computed_in_f16(op: type[NamedOp], precision: str) -> None:
    """Also in close precision, as they are within an ulp; behind what is no position."""
    net = Net()
    x = net.input("x", 6, 64)
    norm = net.op(
        top.LayerNormOp, "norm", (x, net.none, net.none), axis=1, eps=1e-5, normalized_shape=[]
    )
    end = net.op(top.AddOp, "end", (net.op(op, "y", (norm,)), norm))
    after = assert_same_numbers(
        net.module(end),
        "convert-top-to-tpu{mode=F16 chip=bm1684x},"
        f"processor-tpu-optimize{{precision={precision}}}",
        tolerance=4e-3,
    )
    assert element_of(active(after).output) == f16


def test_f32_networks_keep_f32() -> None:
    assert element_of(active(narrowed("GELU", "F32")).output) == f32


@pytest.mark.parametrize("options", ["", "{precision=full}"])
@pytest.mark.parametrize("function", list(FUNCTIONS))
def test_bf16_networks_widen_tile_by_tile(function: str, options: str) -> None:
    """Whatever the precision, as what is between the casts is f32 in the kernel, too."""
    assert element_of(active(narrowed(function, "BF16", options)).output) == bf16


@pytest.mark.parametrize(
    ("function", "options", "expected"),
    [
        ("GELU", "{precision=close}", f16),
        ("SIGMOID", "{precision=close}", f32),
        ("GELU", "{precision=full}", f32),
        ("GELU", "{disable=NarrowActive}", f32),
    ],
)
def test_options(function: str, options: str, expected: object) -> None:
    assert element_of(active(narrowed(function, options=options)).output) == expected


def test_what_is_computed_in_f32_beside_reads_the_narrow_result() -> None:
    """As the mean of a squeeze-and-excitation does."""
    net = Net()
    x = net.input("x", 1, 8, 6, 6)
    filters = net.weight("w", 8, 8, 1, 1)
    sizes = {"kernel_shape": [1, 1], "strides": [1, 1], "pads": [0] * 4, "group": 1}
    conv = net.op(top.ConvOp, "c", (x, filters, net.none), **sizes)
    y = net.op(top.SigmoidOp, "y", (conv,))
    wide = net.op(top.ReciprocalOp, "wide", (y,))  # in f32
    end = net.op(top.AddOp, "end", (y, conv))
    after = assert_same_numbers(
        net.module(end, wide),
        "convert-top-to-tpu{mode=F16 chip=bm1684x},processor-tpu-optimize",
        tolerance=2e-2,
    )
    assert element_of(active(after).output) == f16


def test_a_cast_moves_in_front_of_a_reshape() -> None:
    net = Net()
    product = net.op(top.MatMulOp, "mm", (net.input("x", 6, 64), net.weight("w", 64, 64), net.none))
    y = net.op(top.GELUOp, "y", (product,))
    shaped = net.op(top.ReshapeOp, "r", (y,), shape=[1, 6, 64])
    end = net.op(top.AddOp, "end", (shaped, shaped))
    after = assert_same_numbers(
        net.module(end),
        "convert-top-to-tpu{mode=F16 chip=bm1684x},processor-tpu-optimize",
        tolerance=4e-3,
    )
    assert element_of(active(after).output) == f16


def test_the_pattern_narrows_what_kernels_have_sequences_for() -> None:
    found = {precision: frozenset(table) - EXACT.keys() for precision, table in SEQUENCES.items()}
    assert found == NARROW_MODES


def test_unknown_precisions_are_refused() -> None:
    module = narrowed("GELU")
    module.attributes[ATTRIBUTE] = StringAttr("exact")
    with pytest.raises(TpuError, match="is 'exact'; it can be fast, close, full"):
        precision_of(active(module))
