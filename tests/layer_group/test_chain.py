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
from xdsl_tpu.passes.layer_group.build import Keeping
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


def bridged() -> Case:
    """Convolutions of which the first gives what is read again at the end, loaded from DDR, as
    there is no room for it beside what is joined to it."""
    case = Case("f16", seed=11)
    large, half, small = (1, 64, 256, 128), (1, 64, 128, 128), (1, 64, 32, 16)
    wide, joined = (1, 128, 128, 128), (1, 128, 256, 128)
    x = case.input("x", (1, 16, 256, 128))
    first = conv(case, x, "first", ((1, 16, 256, 128), large), (3, 3), (1, 1), (1, 1, 1, 1))
    y = conv(case, first, "c0", (large, half), (2, 1), (2, 1))
    y = conv(case, y, "c1", (half, half), (3, 3), (1, 1), (1, 1, 1, 1))
    y = conv(case, y, "c2", (half, wide), (3, 3), (1, 1), (1, 1, 1, 1))
    y = conv(case, y, "c3", (wide, half), (3, 3), (1, 1), (1, 1, 1, 1))
    y = conv(case, y, "c4", (half, small), (4, 8), (4, 8))
    for number in range(5, 9):
        y = conv(case, y, f"c{number}", (small, small), (3, 3), (1, 1), (1, 1, 1, 1))
    y = case.op("tpu.Upsample", [y, "none"], {"scale_h": "8", "scale_w": "8"}, "up", large)
    both = case.op("tpu.Concat", [first, y], {"axis": "1 : si32"}, "both", joined)
    conv(case, both, "y", (joined, large), (3, 3), (1, 1), (1, 1, 1, 1))
    return case


def nothing_kept(search: object, groups: list[Group]) -> tuple[list[Group], list[Keeping]]:
    return groups, []


def test_nothing_is_put_over_what_is_being_stored_where_that_would_wait(
    seen: list[Seen], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layer_group, "keep_values", nothing_kept)
    patient = cycles(bridged())
    plain, *others = seen
    assert others
    assert all(other.activations > plain.activations for other in others)
    assert min(other.done for other in others) < 0.95 * plain.done
    monkeypatch.setattr(chain, "WAITS", ())
    assert patient < 0.98 * cycles(bridged())
