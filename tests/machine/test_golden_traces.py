"""Recorded command streams of whole networks, result by result.

By default the exact mode runs only the first commands of the long ones; with the environment
variable XDSL_TPU_FULL set it runs them all.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from golden_traces import FORMULAS, Trace, load_trace, prepare, weights

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.machine import Machine

_FOLDER = Path(__file__).parents[1] / "data" / "golden" / "traces"
_PREFIX = {"swin_t_f16": 1500, "vit_small_f32": 600}
_OUTPUT_ERROR = {
    "swin_t_f16": 5e-3,
    "vit_small_f32": 5e-6,
    "fa_tiny_decode": 5e-4,
    "fa_tiny_prefill": 5e-4,
    "qwen2_tiny_w4f16_decode": 2e-3,
}


@pytest.fixture(scope="module", params=sorted(_OUTPUT_ERROR))
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def trace(name: str) -> Trace:
    return load_trace(_FOLDER / f"{name}.npz")


def test_exact_stream(trace: Trace, name: str) -> None:
    """Both queues interleave as recorded, and every result has the recorded CRC."""
    count = len(trace.commands)
    if not os.environ.get("XDSL_TPU_FULL"):
        count = _PREFIX.get(name, count)
    machine = Machine(load_chip("bm1684x"), "exact")
    prepare(trace, machine)
    wrong: list[int] = []
    position = 0

    def compare(command: Command) -> None:
        nonlocal position
        assert command is trace.commands[position]
        if trace.region_crc(machine, position) != trace.data["crc"][position]:
            wrong.append(position)
        position += 1

    machine.run(trace.queue(Engine.TIU, count), trace.queue(Engine.GDMA, count), compare)
    assert position == count
    assert not wrong


def test_fast_stream(trace: Trace, name: str) -> None:
    """The fast mode ends with the recorded outputs, up to the noise of another summation order."""
    machine = Machine(load_chip("bm1684x"), "fast")
    prepare(trace, machine)
    count = len(trace.commands)
    machine.run(trace.queue(Engine.TIU, count), trace.queue(Engine.GDMA, count))
    ports = [port for port in trace.meta["io"] if port["kind"] == "output"]
    assert ports
    for port in ports:
        wanted = trace.data[f"out_{port['name']}"]
        address = machine.memory.chip.ddr_base + port["addr"]
        got = machine.memory.read(address, port["shape"], wanted.dtype).astype(np.float64)
        assert np.abs(got - wanted).max() < _OUTPUT_ERROR[name]


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        (1, [10278, 9356, 7582, 1441]),
        (4, [140, 168, 0, 241]),
        (5, [12, 15, 9, 9]),
        (6, [7856, 7965, 7707, 8201]),
        (7, [15278, 15065, 15302, 15477]),
        (8, [46555, 14917, 12186, 47605]),
        (9, [158, 128, 151, 150]),
        (10, [3831, 3840, 3752, 3332]),
    ],
)
def test_weights_by_formula(kind: int, wanted: list[int]) -> None:
    """The bits of four elements from byte 64 on, made with the formulas as they were published."""
    size = FORMULAS[kind][0]
    trace = Trace({"coeff_segments": np.array([[64, 4 * size, kind]])}, {}, [])
    assert weights(trace)[64:].view(np.dtype(f"u{size}")).tolist() == wanted


def test_weights_of_another_image_are_refused() -> None:
    segments = np.array([[0, 64, 4]])
    trace = Trace({"coeff_segments": segments}, {"coeff_synth_sha256": "00"}, [])
    with pytest.raises(ValueError, match="not those that were recorded"):
        weights(trace)
