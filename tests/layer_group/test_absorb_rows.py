"""Rows of a table by their indices come straight into the lanes of a group; values stay."""

import numpy as np
import pytest
from tests.kernels.harness import Case
from tests.layer_group.test_absorb_moves import absorbed, marked, outcome_of
from tests.local.groups import WHOLE, assert_close
from xdsl.dialects.builtin import IntegerAttr, i64

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.dialects.absorbed import set_absorbed
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes import PASSES
from xdsl_tpu.passes.address_assign.assign import address_of, divided_parts
from xdsl_tpu.passes.address_assign.lifetimes import lifetimes
from xdsl_tpu.passes.layer_group.values import Secs
from xdsl_tpu.passes.verify_addresses import address_faults

ROWS, WIDTH = 300, 32


def picked(
    shape: tuple[int, ...], kind: str = "f16", *, constant: bool = False, width: int = WIDTH
) -> Case:
    """Rows of a table seen as `shape`, in a group; their indices are computed before it."""
    case = Case(kind)
    count = int(np.prod(shape)) // width
    table = (case.weight if constant else case.input)("table", (ROWS, width))
    places = case.input("places", (count,), kind="i32")
    case.inputs[places] = np.random.default_rng(count).integers(0, ROWS - 1, count, np.int32)
    more = {"const_val": "1.0 : f64"}
    places = case.op("tpu.AddConst", [places], more, "moved", (count,), "i32")
    axis = {"axis": "0 : si32"}
    rows = case.op("tpu.Gather", [table, places, "none"], axis, "rows", (count, width))
    seen = case.op("tpu.Reshape", [rows], {"shape": str(list(shape))}, "seen", shape)
    relu = case.op("tpu.Relu", [seen], {}, "relu", shape)
    case.op("tpu.Add", [seen, relu], {}, "y", shape)
    return case


@pytest.mark.parametrize("secs", [WHOLE, Secs(n=3), Secs(n=2, h=2)], ids=str)
@pytest.mark.parametrize(
    "shape", [(3, 20, 4 * WIDTH), (3, 70, 4, WIDTH), (3, 20, 2, 2 * WIDTH)], ids=str
)
def test_rows_come_into_lanes(shape: tuple[int, ...], secs: Secs) -> None:
    case = picked(shape)
    module = absorbed(case, secs)
    assert marked(module) == ["rows"]
    outcome = outcome_of(case, module)
    assert_close(outcome)
    forms = [command.form.name for command in outcome.program.gdma]
    assert forms.count("DMA_gather") == 3 * secs.h, "one for each image and range of rows"


@pytest.mark.parametrize("kind", ["f32", "bf16"])
def test_other_formats(kind: str) -> None:
    case = picked((2, 20, 4, WIDTH), kind)
    assert_close(outcome_of(case, absorbed(case)))


def test_rows_of_coefficients_wait_for_their_indices() -> None:
    """Loads of coefficients run ahead of stores, but what these are is not known before."""
    case = picked((1, 20, 4, WIDTH), constant=True)
    module = absorbed(case)
    assert marked(module) == ["rows"]
    assert_close(outcome_of(case, module))


def test_it_takes_fewer_cycles() -> None:
    case = picked((3, 60, 40, WIDTH))
    module, plain = absorbed(case), absorbed(case)
    for op in plain.walk():
        set_absorbed(op, False)
    with_, without = outcome_of(case, module), outcome_of(case, plain)
    assert np.array_equal(with_.simulated, without.simulated)
    assert with_.cycles < 0.8 * without.cycles


def test_parts_of_rows_are_gathered_before() -> None:
    """A lane that begins within a row cannot be filled by an index."""
    assert not marked(absorbed(picked((1, 40, WIDTH // 2))))
    assert marked(absorbed(picked((1, 40, WIDTH))))


def test_columns_of_a_table_are_no_rows() -> None:
    case = Case("f16")
    table = case.input("table", (WIDTH, ROWS))
    places = case.input("places", (40,), kind="i32")
    axis = {"axis": "1 : si32"}
    rows = case.op("tpu.Gather", [table, places, "none"], axis, "rows", (WIDTH, 40))
    relu = case.op("tpu.Relu", [rows], {}, "relu", (WIDTH, 40))
    case.op("tpu.Add", [rows, relu], {}, "y", (WIDTH, 40))
    assert not marked(absorbed(case))


def test_indices_keep_their_memory_until_the_load() -> None:
    module = absorbed(picked((3, 20, 4, WIDTH)))
    _, _, function = divided_parts(module)
    ops = list(function.body.block.ops)
    group = next(place for place, op in enumerate(ops) if op.name == "tpu.Group")
    live = lifetimes(function)
    ends = {buffer.key: buffer.last for buffer in live.buffers}
    assert ends["moved"] == ends["table"] == group


def test_rows_picked_several_times_need_no_room() -> None:
    """What the group reads is the table, which may be smaller than its rows, and lie last."""
    module = absorbed(picked((1, 40, 8, 2 * WIDTH)))
    assert marked(module) == ["rows"]
    PASSES["address-assign"]()().apply(make_context(), module)
    inner, _, function = divided_parts(module)
    table = function.body.block.args[0]
    start = inner.attributes["module.neuron_addr"]
    assert isinstance(start, IntegerAttr)
    size = address_of(table) + ROWS * WIDTH * 2 - start.value.data
    inner.attributes["module.neuron_size"] = IntegerAttr(size, i64)
    outside = [fault for fault in address_faults(module, load_chip()) if "not inside" in fault]
    assert not [fault for fault in outside if "'rows'" in fault or "'seen'" in fault]
    inner.attributes["module.neuron_size"] = IntegerAttr(size - 1, i64)
    outside = [fault for fault in address_faults(module, load_chip()) if "not inside" in fault]
    assert [fault for fault in outside if "'rows'" in fault or "'seen'" in fault]


def test_interpreted_values_stay() -> None:
    case = picked((3, 20, 4, WIDTH))
    module = absorbed(case)
    (expected,) = run_module(case.module(), case.inputs).values()
    (actual,) = run_module(module, case.inputs, weights_of(module)).values()
    assert np.array_equal(expected, actual)
