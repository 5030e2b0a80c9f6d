"""The search for layers in wider formats ends near the fewest that reach the goal."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.quantization.test_mixing import network, saved

from xdsl_tpu.tools.mixing.layers import Layers
from xdsl_tpu.tools.mixing.mixture import NEARER, Mixture, fewest_in_float, nearer
from xdsl_tpu.tools.mixing.search import measure


def layers_kept(
    least: int, count: int = 100
) -> tuple[Callable[[float], Mixture | None], dict[int, Mixture | None]]:
    """Of `count` layers so many are kept as a limit asks for; with fewer than `least` it fails."""
    known: dict[int, Mixture | None] = {}

    def at(factor: float) -> Mixture | None:
        held = round(count / factor)
        if held not in known:
            modes = {f"layer{n}": "F16" for n in range(held)}
            known[held] = Mixture(modes, 1.0) if held >= least else None
        return known[held]

    return at, known


@pytest.mark.parametrize("least", [52, 60, 77, 99])
def test_fewer_layers_are_kept_and_the_goal_is_reached(least: int) -> None:
    """Steps by 2 would end with all 100."""
    at, known = layers_kept(least)
    found = nearer(at, known, 1.0, 2.0)
    kept = 100 if found is None else len(found.modes)
    assert least <= kept <= least * 2 ** (1 / 2**NEARER) + 1
    assert len(known) <= NEARER


def test_nothing_is_measured_where_limits_choose_the_same() -> None:
    at, known = layers_kept(3, 4)
    assert at(1.0) is not None
    assert at(2.0) is None
    found = nearer(at, known, 1.0, 2.0)
    assert found is not None
    assert len(found.modes) == 3
    assert len(known) == 3


def test_a_network_keeps_fewer_layers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    goal, random, depth = 0.996, np.random.default_rng(1), 20
    nodes = " ".join(
        f"h{n} = MatMul(x{n}, w{n}) t{n} = Tanh(h{n}) x{n + 1} = Add(x{n}, t{n})"
        for n in range(depth)
    )
    text = f"""<ir_version: 9, opset_import: ["" : 17]>
    agraph (float[1,16,64] x0) => (float[1,16,64] x{depth}) {{ {nodes} }}"""
    weights = {f"w{n}": 0.02 * (n + 1) * random.standard_normal((64, 64)) for n in range(depth)}
    net, observed = network(saved(tmp_path / "deep.onnx", text, weights), tmp_path)
    table = observed.table("max")
    layers = Layers.of(net, table)
    eight = dict.fromkeys(layers.in_8_bits, "INT8")
    blocks = measure(layers.in_8_bits, layers.noise_in(eight), 2 * (1 - goal), 48)

    def found() -> Mixture:
        mixture = fewest_in_float(net, table, layers, layers.in_float(), blocks, goal)
        assert mixture is not None
        assert mixture.cosine >= goal
        return mixture

    fine = found()
    monkeypatch.setattr("xdsl_tpu.tools.mixing.mixture.NEARER", 0)
    assert 0 < len(fine.modes) < len(found().modes)
