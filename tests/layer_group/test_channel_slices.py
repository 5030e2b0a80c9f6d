"""Groups in slices of channels: where a norm needs all positions, with weights part by part, and of
rows in the lanes."""

from collections.abc import Callable

import numpy as np
import pytest
from tests.kernels.harness import Case, Outcome, check_encoding, execute, final
from tests.layer_group.small_nets import groups_of, members
from tests.local.groups import assert_close
from tests.local.test_local_cnn import conv
from tests.local.test_local_transformer import linear

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.weights import weights_of

CHANNELS, LENGTH = 320, 11000


def signal() -> Case:
    """A convolution of a signal, each channel of which is normed, and a function of it."""
    case, given, shape = Case("f16", seed=7), (1, 4, LENGTH + 2, 1), (1, CHANNELS, LENGTH, 1)
    y = conv(case, case.input("x", given), "a", (given, shape), (3, 1))
    given = [case.weight(name, (1, CHANNELS, 1, 1), 0.5) for name in ("w", "b")]
    attributes = {"eps": "1.0e-5 : f64", "num_groups": f"{CHANNELS} : i64"}
    y = case.op("tpu.GroupNorm", [y, *given, "none", "none"], attributes, "n", shape)
    case.op("tpu.Active", [y], {"mode": "#tpu<active_mode SILU>"}, "y", shape)
    return case


def tokens() -> Case:
    """A feed-forward block of many short rows, whose inner ones local memory does not hold."""
    case, rows, size, inner = Case("f16", seed=5), 8192, 64, 1536
    x = linear(case, case.input("x", (1, rows, size)), "up", (1, rows), (size, inner))
    x = case.op("tpu.Active", [x], {"mode": "#tpu<active_mode GELU>"}, "gelu", (1, rows, inner))
    linear(case, x, "down", (1, rows), (inner, size))
    return case


@pytest.mark.parametrize(
    ("made", "names"), [(signal, ["a", "n", "y"]), (tokens, ["up", "gelu", "down"])]
)
def test_channels_and_rows_go_in_slices(made: Callable[[], Case], names: list[str]) -> None:
    case, chip = made(), load_chip()
    (expected,) = run_module(case.module(), case.inputs).values()
    module = final(case)
    (group,) = groups_of(module)
    assert members(group) == names
    assert group.csecs.value.data > 1
    program = generate(module, weights_of(module), chip)
    check_encoding(program)
    early, late = (execute(program, case, chip, ahead) for ahead in (Engine.TIU, Engine.GDMA))
    assert np.array_equal(early, late)
    cycles = simulate(program.tiu, program.gdma, chip).total
    assert_close(Outcome(early, np.asarray(expected), program, cycles))
