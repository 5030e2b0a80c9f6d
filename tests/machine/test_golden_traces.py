"""Recorded command streams of whole networks, result by result.

By default the exact mode runs the first commands of each; with the environment variable
XDSL_TPU_FULL set it runs them all.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from golden_traces import Trace, load_trace, prepare

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.machine import Machine

_FOLDER = Path(__file__).parents[1] / "data" / "golden" / "traces"
_PREFIX = {"swin_t_f16": 1500, "vit_small_f32": 600}
_LOGIT_ERROR = {"swin_t_f16": 5e-3, "vit_small_f32": 5e-6}


@pytest.fixture(scope="module", params=sorted(_PREFIX))
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def trace(name: str) -> Trace:
    return load_trace(_FOLDER / f"{name}.npz")


def test_exact_stream(trace: Trace, name: str) -> None:
    """Both queues interleave as recorded, and every result has the recorded CRC."""
    count = len(trace.commands) if os.environ.get("XDSL_TPU_FULL") else _PREFIX[name]
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
    """The fast mode ends with the recorded logits, up to the noise of another summation order."""
    machine = Machine(load_chip("bm1684x"), "fast")
    prepare(trace, machine)
    count = len(trace.commands)
    machine.run(trace.queue(Engine.TIU, count), trace.queue(Engine.GDMA, count))
    (port,) = (port for port in trace.meta["io"] if port["kind"] == "output")
    address = machine.memory.chip.ddr_base + port["addr"]
    got = machine.memory.read(address, port["shape"], np.float32)
    wanted = trace.data[f"out_{port['name']}"]
    assert np.abs(got - wanted).max() < _LOGIT_ERROR[name]
