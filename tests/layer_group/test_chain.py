"""Straight groups planned again: inputs that leave room to weights."""

from dataclasses import dataclass

import pytest
from tests.kernels.harness import Case
from tests.local.test_local_cnn import conv

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.layer_group import chain, layer_group, progress
from xdsl_tpu.passes.layer_group.clock import Cost
from xdsl_tpu.passes.layer_group.model import Group
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.pipelines import STAGES

CHIP = load_chip()
CAST = {"with_scale": "true", "round_mode": "#tpu<round_mode HalfAwayFromZero>"}
BLOCKS = [(channels, size) for channels, size in ((2, 28), (4, 14), (8, 7)) for _ in range(4)]


def network(scale: int) -> Case:
    """An image in f32, and convolutions as in a ResNet-18, of `scale` times as many channels."""
    case = Case("f16", seed=7)
    shape = (1, 3, 224, 224)
    x = case.input("x", shape, kind="f32")
    x = case.op("tpu.Cast", [x], CAST, "q", shape)
    for number, (channels, size) in enumerate([(1, 112), *[(1, 56)] * 5, *BLOCKS]):
        result, step = (1, channels * scale, size, size), shape[-1] // size
        kernel, pad = (7, 3) if not number else (3, 1)
        pads, strides = (pad, pad, pad, pad), (step, step)
        x = conv(case, x, f"c{number}", (shape, result), (kernel, kernel), strides, pads)
        shape = result
    return case


@dataclass
class Seen:
    """When a way to plan a group is done, and what it leaves to weights."""

    activations: int
    done: float


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Seen]:
    """All ways that are compared."""
    found: list[Seen] = []

    def noted(group: Group, cost: Cost, chip: object) -> float:
        done = progress.done_after(group, cost, CHIP)
        found.append(Seen(group.plan.activations, done))
        return done

    monkeypatch.setattr(chain, "done_after", noted)
    return found


def cycles(case: Case) -> int:
    module = case.module()
    for step in STAGES["final"]:
        make_pass(step, "").apply(make_context(), module)
    program = generate(module, weights_of(module), CHIP)
    return simulate(program.tiu, program.gdma, CHIP).total


def test_inputs_leave_room_to_weights_where_these_are_waited_for(
    seen: list[Seen], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = network(64)
    late = cycles(case)
    early, *others = seen
    assert others
    assert all(other.activations < early.activations for other in others)
    best = min(seen, key=lambda one: one.done)
    assert best.done < early.done
    assert best.done == pytest.approx(late, rel=0.02)
    monkeypatch.setattr(chain, "LAZIEST", 0)
    assert late < cycles(case)


def test_inputs_come_first_where_all_weights_fit_beside_them(seen: list[Seen]) -> None:
    cycles(network(16))
    assert all(one.done >= seen[0].done for one in seen)


def test_nothing_is_compared_where_no_cost_is_known(seen: list[Seen]) -> None:
    module = network(16).module()
    for step in STAGES["final"]:
        one = layer_group.LayerGroupPass(opt=1) if step == "layer-group" else make_pass(step, "")
        one.apply(make_context(), module)
    assert not seen
