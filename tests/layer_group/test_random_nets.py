"""Networks drawn at random, with and without groups, on chips with little local memory."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.kernels.harness import TOLERANCE, Case, check_encoding, execute
from tests.layer_group.random_nets import convolutional, of_tokens
from tests.layer_group.small_nets import groups_of, prepared, residual
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import CHIPS, load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.pipeline import make_pass

Array = np.typing.NDArray[np.float32]


@pytest.fixture(scope="module")
def chips(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Descriptions of chips that differ in bytes per lane."""
    folder = tmp_path_factory.mktemp("chips")
    text = (CHIPS / "bm1684x.toml").read_text(encoding="utf-8")
    paths: dict[int, Path] = {}
    for size in (8192, 32768, 262144):
        paths[size] = folder / f"lane{size}.toml"
        paths[size].write_text(text.replace("262144", str(size)), encoding="utf-8")
    return paths


def compiled(case: Case, chip: Path, opt: int) -> ModuleOp:
    """From the lowered module to addresses."""
    module = prepared(case)
    for name, options in (
        ("layer-group", f'opt={opt} chip="{chip}"'),
        ("address-assign", ""),
        ("verify-addresses", ""),
        ("verify-layer-groups", f'chip="{chip}"'),
    ):
        make_pass(name, options).apply(make_context(), module)
        module.verify()
    return module


def simulated(case: Case, module: ModuleOp, chip_file: Path) -> Array:
    """The output of the program, which must be free of findings, in two orders of execution."""
    chip = load_chip(str(chip_file))
    program = generate(module, weights_of(module), chip)
    check_encoding(program)
    early, late = (execute(program, case, chip, ahead) for ahead in (Engine.TIU, Engine.GDMA))
    assert np.array_equal(early, late), "the result depends on which engine runs ahead"
    return early


def check_groups(case: Case, chip: Path) -> int:
    """Groups change nothing for the interpreter and at most rounding for the chip.

    Returns how many groups of both searches work in slices.
    """
    (expected,) = run_module(prepared(case), case.inputs).values()
    slices = 0
    outputs: list[Array] = []
    for opt in (0, 1, 2):
        module = compiled(case, chip, opt)
        (interpreted,) = run_module(module, case.inputs).values()
        assert np.array_equal(interpreted, expected), f"opt={opt}"
        outputs.append(simulated(case, module, chip))
        for group in groups_of(module):
            slices += group.nsecs.value.data * group.hsecs.value.data > 1
    largest = max(float(np.abs(expected).max()), 1e-3)
    for output in outputs:
        assert output.shape == expected.shape
        error = float(np.abs(output.astype(float) - expected).max()) / largest
        assert error <= 4 * TOLERANCE[case.kind], f"largest error {error:.2e} of the largest value"
    return slices


LEAN = settings(
    max_examples=12,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@LEAN
@given(case=convolutional(), size=st.sampled_from([8192, 32768, 262144]))
def test_convolutional_networks(case: Case, size: int, chips: dict[int, Path]) -> None:
    check_groups(case, chips[size])


@LEAN
@given(case=of_tokens(), size=st.sampled_from([8192, 32768, 262144]))
def test_networks_of_tokens(case: Case, size: int, chips: dict[int, Path]) -> None:
    check_groups(case, chips[size])


def test_little_memory_needs_slices(chips: dict[int, Path]) -> None:
    """The same network is one straight group on the real chip."""
    case = residual(28, 70)
    assert check_groups(case, chips[8192]) == 2
    assert check_groups(case, chips[262144]) == 0


@pytest.mark.parametrize(
    ("shape", "target"),
    [
        ((1, 2, 6), (2, 3, 2)),
        ((2, 3, 2), (1, 2, 6)),
        ((2, 3, 4), (1, 8, 3)),
        ((2, 3, 4), (3, 2, 4)),
    ],
)
def test_reshapes_that_change_the_depth(
    shape: tuple[int, ...], target: tuple[int, ...], chips: dict[int, Path]
) -> None:
    """In a group of type 3D every depth is aligned by itself, so such a reshape is no view."""
    case = Case("f32")
    before, after = (4, 4, *shape), (4, 4, *target)
    x = case.input("x", before)
    weights = [case.weight(name, (1, 1, 1, 1, before[-1])) for name in ("gamma", "beta")]
    operands = [x, *weights, "none", "none"]
    attributes = {"axis": "4 : si32", "eps": "1.0e-05", "normalized_shape": f"[{before[-1]}]"}
    y = case.op("tpu.LayerNorm", operands, attributes, "norm", before)
    y = case.op("tpu.Reshape", [y], {"shape": str(list(after))}, "reshape", after)
    y = case.op("tpu.Relu", [y], {}, "relu", after)
    case.op("tpu.Add", [y, y], {}, "sum", after)
    check_groups(case, chips[262144])


def test_a_value_of_one_lane_is_loaded_for_those_that_need_it_in_all(
    chips: dict[int, Path],
) -> None:
    """An outer product: the column is computed, so it has to go through DDR."""
    case = Case("f32")
    column = case.op("tpu.Relu", [case.input("column", (3, 1))], {}, "relu", (3, 1))
    case.op("tpu.Mul", [column, case.input("row", (1, 16))], {}, "outer", (3, 16))
    case.op("tpu.Relu", ["outer"], {}, "y", (3, 16))
    check_groups(case, chips[262144])
