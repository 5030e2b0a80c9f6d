"""Who reads what of whom, against programs whose values are known."""

from collections import Counter
from pathlib import Path

import pytest
from tests.report.programs import CHIP, SHAPE, overlapping
from tests.tools.small_models import MODELS

from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.program import IoTensor, Program
from xdsl_tpu.backend.report.flows import Flows, flows
from xdsl_tpu.backend.tensor import DType, Shape4, aligned, contiguous
from xdsl_tpu.backend.timing import Direction, simulate
from xdsl_tpu.backend.timing.gdma_cost import transfer
from xdsl_tpu.tools.compile_model import compile_model

ROW: Shape4 = (1, 4, 8, 16)
BYTES = 4 * 8 * 16 * 4


def found(program: Program) -> tuple[Flows, list[str]]:
    """The flows of a program, and the names of its rows; the empty one is of no layer."""
    timeline = simulate(program.tiu, program.gdma, CHIP)
    rows = {"": 0}
    owners = {
        engine: [
            rows.setdefault(program.layers[index].name if index >= 0 else "", len(rows))
            for event in timeline.events[engine]
            for index in (program.layer_indices(engine)[event.position],)
        ]
        for engine in Engine
    }
    return flows(program, [timeline], CHIP, [owners]), list(rows)


def named(pairs: Counter[tuple[int, int]], names: list[str]) -> dict[tuple[str, str], int]:
    def name(row: int, end: str) -> str:
        return names[row] if row >= 0 else f"{end} {-1 - row}"

    return {(name(a, "input"), name(b, "output")): count for (a, b), count in pairs.items()}


def test_what_a_layer_copies_for_another() -> None:
    """No layer copies within DDR what b loads; what a loads was made by nobody."""
    shown, names = found(overlapping())
    assert named(shown.ddr, names) == {("", "b"): 64 * 64 * 64 * 4}
    assert SHAPE == (1, 64, 64, 64)
    assert not shown.local
    assert not shown.also
    assert not shown.weights


def test_inputs_outputs_and_a_value_in_lanes() -> None:
    program = Program("net", CHIP.name, "F32")
    start = CHIP.ddr_base
    x, y = (contiguous(start + i * 65536, ROW, DType.F32) for i in range(2))
    program.inputs = [IoTensor("x", start, ROW, DType.F32)]
    program.outputs = [IoTensor("y", start + 65536, ROW, DType.F32)]
    emitter = Emitter(CHIP, program)
    a, b, c = (aligned(CHIP, i * 16384, ROW, DType.F32) for i in range(3))
    with emitter.layer("one", "tpu.Relu"):
        emitter.load(a, x)
        emitter.copy(b, a)
    with emitter.layer("two", "tpu.Relu"):
        emitter.copy(c, b)
        emitter.store(y, c)
    emitter.finish()
    shown, names = found(program)
    assert named(shown.ddr, names) == {("input 0", "one"): BYTES, ("two", "output 0"): BYTES}
    assert named(shown.local, names) == {("one", "two"): BYTES}


def test_a_load_counts_for_the_layers_that_read_it() -> None:
    """The row of a Load is no reader: the first that computes with it is, others are told of."""
    program = Program("net", CHIP.name, "F32")
    start = CHIP.ddr_base
    program.inputs = [IoTensor("x", start, ROW, DType.F32)]
    emitter = Emitter(CHIP, program)
    a, b, c = (aligned(CHIP, i * 16384, ROW, DType.F32) for i in range(3))
    with emitter.layer("load_x", "tpu.Load"):
        emitter.load(a, contiguous(start, ROW, DType.F32))
    with emitter.layer("one", "tpu.Relu"):
        emitter.copy(b, a)
    with emitter.layer("two", "tpu.Relu"):
        emitter.copy(c, a)
    emitter.finish()
    shown, names = found(program)
    assert named(shown.ddr, names) == {("input 0", "one"): BYTES}
    assert named(shown.also, names) == {("input 0", "two"): BYTES}
    assert not shown.local


def test_halves_of_one_tensor_have_two_makers() -> None:
    """Rows that two layers write in turn: no byte is taken for its neighbour's."""
    program = Program("net", CHIP.name, "F32")
    whole = contiguous(CHIP.ddr_base, (1, 4, 8, 32), DType.F32)
    halves = [whole.window((0, 0, 0, at), ROW) for at in (0, 16)]
    emitter = Emitter(CHIP, program)
    a = aligned(CHIP, 0, ROW, DType.F32)
    for name, half in zip(("left", "right"), halves, strict=True):
        with emitter.layer(name, "tpu.Relu"):
            emitter.store(half, a)
    with emitter.layer("reader", "tpu.Relu"):
        emitter.load(a, halves[1])
        emitter.load(aligned(CHIP, 16384, (1, 4, 8, 32), DType.F32), whole)
    emitter.finish()
    shown, names = found(program)
    assert named(shown.ddr, names) == {("left", "reader"): BYTES, ("right", "reader"): 2 * BYTES}


@pytest.mark.parametrize("model", ["cnn", "transformer"])
def test_every_byte_that_is_loaded_has_a_maker(model: str, tmp_path: Path) -> None:
    """Values, weights and what layers leave for themselves are all that transfers read."""
    (tmp_path / "net.onnx").write_bytes(MODELS[model]().SerializeToString())
    program = compile_model(tmp_path / "net.onnx", tmp_path / "out", "F16", "bm1684x").program
    shown, names = found(program)
    moved = [transfer(command, CHIP) for command in program.gdma]
    read = sum(m.bytes for m in moved if m.direction in (Direction.LOAD, Direction.COPY))
    to_rows = sum(count for (_, reader), count in shown.ddr.items() if reader >= 0)
    assert 0 < to_rows + sum(shown.weights.values()) <= read
    own = read - to_rows - sum(shown.weights.values())
    assert own == 0
    stored = {m for m, _ in shown.ddr if m >= 0}
    assert {names[row] for row in stored} <= {layer.name for layer in program.layers}
    outputs = Counter({r: c for (_, r), c in shown.ddr.items() if r < 0})
    assert [outputs[-1 - k] for k in range(len(program.outputs))] == [
        tensor.bytes for tensor in program.outputs
    ]
