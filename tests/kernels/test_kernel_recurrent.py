"""Recurrent layers through the whole compiler and the machine, against the interpreter."""

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import helper, numpy_helper

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.backend.kernels.recurrent import choose
from xdsl_tpu.backend.kernels.recurrent_cells import SHORT, lstm
from xdsl_tpu.backend.kernels.recurrent_plan import Layer, Plan, Sizes
from xdsl_tpu.backend.kernels.recurrent_rows import pays
from xdsl_tpu.backend.kernels.support import DdrValue
from xdsl_tpu.backend.needs import needs_of
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.tensor import DType
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes.pipelines import lower

Array = npt.NDArray[Any]
GATES = {"LSTM": 4, "GRU": 3}
ERROR = {"F32": 2e-6, "F16": 2e-3, "BF16": 2e-2}


def model(
    kind: str,
    sizes: tuple[int, int, int, int],
    outputs: str = "yhc",
    *,
    states: bool = False,
    bias: bool = True,
    **attributes: Any,
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """One layer of `sizes` steps, batch, inputs, units, and inputs for it; results by letter."""
    steps, batch, inputs, units = sizes
    ways = 2 if attributes.get("direction") == "bidirectional" else 1
    rng, rows = np.random.default_rng([*sizes, len(attributes)]), GATES[kind] * units
    first = (batch, steps) if attributes.get("layout") else (steps, batch)
    state = (batch, ways, units) if attributes.get("layout") else (ways, batch, units)
    given = {"x": rng.standard_normal((*first, inputs)).astype(np.float32)}
    names = ["x", "w", "r", "b" if bias else "", ""]
    if states:
        letters = "hc" if kind == "LSTM" else "h"
        given |= {f"{one}0": rng.standard_normal(state).astype(np.float32) for one in letters}
        names += [f"{one}0" for one in letters]
    shapes = {"w": (ways, rows, inputs), "r": (ways, rows, units), "b": (ways, 2 * rows)}
    constants = [
        numpy_helper.from_array((rng.standard_normal(s) * s[-1] ** -0.5).astype(np.float32), name)
        for name, s in shapes.items()
        if bias or name != "b"
    ]
    results = [one if one in outputs else "" for one in ("yhc" if kind == "LSTM" else "yh")]
    node = helper.make_node(kind, names, results, hidden_size=units, **attributes)
    declared = [helper.make_tensor_value_info(n, 1, v.shape) for n, v in given.items()]
    wanted = [onnx.ValueInfoProto(name=name) for name in filter(None, results)]
    graph = helper.make_graph([node], "layer", declared, wanted, constants)
    opset = [helper.make_opsetid("", 17)]
    made = helper.make_model(graph, opset_imports=opset, ir_version=10)
    return onnx.shape_inference.infer_shapes(made), given


def agree(mode: str, *args: Any, **kwargs: Any) -> int:
    """Cycles of a layer whose results are the interpreter's."""
    chip = load_chip("bm1684x")
    source, inputs = model(*args, **kwargs)
    module = import_onnx(source)
    expected = list(run_module(module, list(inputs.values())).values())
    lower(module, mode, chip.instruction_set)
    program = generate(module, weights_of(module), chip)
    found = run_program(program, chip, inputs).values()
    for got, wanted in zip(found, expected, strict=True):
        assert np.isfinite(wanted).all()
        assert float(np.abs(np.asarray(got, np.float32).reshape(wanted.shape) - wanted).max()) <= (
            ERROR[mode] * max(1.0, float(np.abs(wanted).max()))
        )
    return simulate(program.tiu, program.gdma, chip).total


@pytest.mark.parametrize("mode", list(ERROR))
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("kind", list(GATES))
def test_directions(kind: str, direction: str, mode: str) -> None:
    agree(mode, kind, (3, 2, 5, 70), direction=direction, states=True)


@pytest.mark.parametrize("kind", list(GATES))
def test_batch_first(kind: str) -> None:
    agree("F16", kind, (4, 3, 20, 7), direction="bidirectional", states=True, layout=1)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("linear", [0, 1])
def test_reset_before_and_after_the_product(linear: int, bias: bool) -> None:
    agree("F32", "GRU", (4, 1, 6, 64), linear_before_reset=linear, bias=bias)


@pytest.mark.parametrize("outputs", ["y", "h", "c", "hc"])
def test_results_nobody_reads(outputs: str) -> None:
    agree("F16", "LSTM", (3, 1, 8, 9), outputs, bias=False)


def test_more_than_fits_local_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights in tiles, steps in blocks, sequences in parts: each as cut as can be."""
    sizes = (5, 3, 90, 130)
    whole = agree("F16", "LSTM", sizes, direction="bidirectional", states=True)

    def small(sizes: Sizes, chip: object) -> list[Plan]:
        return [Plan(2, 2, 5, 4, 1)]

    monkeypatch.setattr("xdsl_tpu.backend.kernels.recurrent.plans", small)
    cut = agree("F16", "LSTM", sizes, direction="bidirectional", states=True)
    assert cut > whole
    for kind, mode in (("GRU", "F32"), ("LSTM", "BF16")):
        agree(mode, kind, sizes, direction="bidirectional", states=True)
    agree("F16", "GRU", sizes, linear_before_reset=1)


def test_plans_keep_recurrent_weights_as_long_as_they_can() -> None:
    assert chosen(Sizes(64, 1, 512, 256, 4, 2, DType.F16, 16)) == Plan(1, 64, 16, 16, 2)
    plan = chosen(Sizes(64, 1, 1024, 1024, 4, 2, DType.F16, 64))
    assert plan is not None
    assert (plan.recurrent, plan.places, plan.batch) == (64, 1, 1)
    assert plan.inputs < 64
    streamed = chosen(Sizes(8, 1, 64, 4096, 4, 1, DType.F16, 256))
    assert streamed is not None
    assert streamed.recurrent < 256
    assert chosen(Sizes(1, 1, 64, 65536, 4, 1, DType.F16, 4096)) is None


def chosen(sizes: Sizes) -> Plan | None:
    """How an LSTM of these sizes is cut."""
    chip, weights = load_chip("bm1684x"), DdrValue(0, (), sizes.dtype)
    values = weights, weights, weights, None, (), None, ()
    emitter = Emitter(chip, Program("", chip.name, ""))
    steps = choose(emitter, Layer(sizes, lstm, SHORT, False, False, *values))
    return None if steps is None else steps.plan


@pytest.mark.parametrize(("mode", "cycles"), [("F16", 400), ("F32", 700)])
def test_a_step_costs_what_its_product_costs(mode: str, cycles: int) -> None:
    """Weights stay: more steps add no loads of them, and fewer cycles than these would take. A
    state in f32 is a row; as a column its product took 4,096 cycles."""
    few, many = (agree(mode, "LSTM", (steps, 1, 64, 256)) for steps in (4, 24))
    assert (many - few) / 20 < cycles


@pytest.mark.parametrize("linear", [0, 1])
@pytest.mark.parametrize("units", [9, 64, 70, 200])
@pytest.mark.parametrize("batch", [1, 3])
def test_states_as_rows(batch: int, units: int, linear: int) -> None:
    """All lanes have as many units, or not; weights of both directions stay, or one at a time."""
    agree("F32", "LSTM", (3, batch, 5, units), direction="bidirectional", states=True)
    agree("F32", "GRU", (3, batch, 5, units), states=True, linear_before_reset=linear)


def test_rows_are_for_fewer_sequences_than_a_lane_has_units() -> None:
    chip = load_chip("bm1684x")
    for batch, slots, rows in ((15, 16, True), (16, 16, False), (1, 16, True), (3, 4, True)):
        sizes = Sizes(8, batch, 64, 64 * slots // 4, 4, 1, DType.F32, 0)
        assert pays(sizes, Plan(batch, 8, slots, slots, 1), chip) == rows
        assert not pays(sizes, Plan(batch, 8, slots // 2, slots, 1), chip)
    assert not pays(Sizes(8, 1, 64, 256, 4, 1, DType.F16, 0), Plan(1, 8, 16, 16, 1), chip)


def test_every_step_counts_in_the_bound() -> None:
    source, _ = model("GRU", (5, 2, 3, 4))
    assert needs_of(import_onnx(source)).macs == 5 * 2 * 3 * 4 * (3 + 4)


def test_a_given_reset_of_states_is_refused() -> None:
    source, _ = model("LSTM", (2, 1, 3, 4), "y")
    module = import_onnx(source)
    chip = load_chip("bm1684x")
    lower(module, "F16", chip.instruction_set)
    lstm = next(op for op in module.walk() if op.name == "tpu.LSTM")
    lstm.operands[6] = lstm.operands[0]
    with pytest.raises(TpuError, match=r"tpu\.LSTM 'y_LSTM': `cont` is not supported"):
        generate(module, weights_of(module), chip)
