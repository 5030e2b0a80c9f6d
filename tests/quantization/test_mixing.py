"""Mixtures of formats: the search alone, the rounding it measures, and what comes of both."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx.parser
import pytest
from onnx import numpy_helper
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.main_function import find_main
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.calibration.observe import Observation
from xdsl_tpu.passes.calibration.steps import Step
from xdsl_tpu.passes.calibration.table import (
    CalibrationTable,
    bias_corrections,
    parse_table,
    with_bias_corrections,
)
from xdsl_tpu.tools.calibrate_model import canonical_top
from xdsl_tpu.tools.mixing.automatic import Wanted, quantise
from xdsl_tpu.tools.mixing.islands import islands
from xdsl_tpu.tools.mixing.layers import Layers, formats_of
from xdsl_tpu.tools.mixing.mixture import find_mixture
from xdsl_tpu.tools.mixing.network import Network
from xdsl_tpu.tools.mixing.rates import Rates
from xdsl_tpu.tools.mixing.rounding import in_steps, noise
from xdsl_tpu.tools.mixing.search import Block, choose, measure
from xdsl_tpu.tools.random_samples import RandomSamples

Array = npt.NDArray[Any]


@pytest.mark.parametrize("bad", [{3}, {0, 63}, {10, 11, 40}])
def test_the_noisy_few_are_found_and_only_they(bad: set[int]) -> None:
    calls = 0

    def noise_of(members: Sequence[int]) -> float:
        nonlocal calls
        calls += 1
        return sum(1.0 if one in bad else 1e-6 for one in members)

    blocks = measure(range(64), noise_of, limit=0.01, evaluations=48)
    assert [one for block in blocks for one in block.members] == list(range(64))
    rounding, held = choose(blocks, lambda one: 1.0, 0.01)
    assert set(held) == bad
    assert set(rounding) == set(range(64)) - bad
    assert calls <= 49


def test_what_saves_most_for_its_noise_rounds_first() -> None:
    blocks = [Block((0,), 0.5), Block((1,), 0.5), Block((2,), 0.1)]
    assert choose(blocks, lambda one: (1.0, 9.0, 1.0)[one], 0.7) == ([1, 2], [0])
    assert choose(blocks, lambda one: 1.0, 0.0) == ([], [0, 1, 2])


@pytest.mark.parametrize(
    ("signed", "values", "expected"),
    [(True, [-9.0, -0.26, 0.3], [-64.0, -0.5, 0.5]), (False, [-1.0, 0.3, 200.0], [0, 0.5, 127.5])],
)
def test_in_steps(signed: bool, values: list[float], expected: list[float]) -> None:
    wide = np.array([one * (20 if one == -9.0 else 1) for one in values], np.float32)
    assert in_steps(wide, Step(0.5, signed)).tolist() == expected


def test_noise_of_what_is_no_number_is_large_and_finite() -> None:
    exact = np.ones(3, np.float32)
    assert noise(np.array([1, np.nan, 1], np.float32), exact) == 1e6
    assert noise(exact * 1.5, exact) == pytest.approx(0.25)


def test_corrections_survive_a_table_and_damage_is_said() -> None:
    table = parse_table("x 1.0 -1.0 1.0\n#weight_scale\nw 1.0\n")
    written = with_bias_corrections(table, {"a b": [1.5, -2e-7], "c": [0.0]})
    again = with_bias_corrections(parse_table(written.text()), {"a b": [1.5, -2e-7]})
    assert bias_corrections(again) == {"a b": [1.5, -2e-7]}
    assert "#weight_scale\nw 1.0" in again.text()
    damaged = CalibrationTable(trailer=["#bias_correction", "conv 1.0,two"])
    with pytest.raises(TpuError, match="t: expected 'name c0,c1"):
        bias_corrections(damaged, "t")


TOKENS = """<ir_version: 9, opset_import: ["" : 17]>
agraph (float[1,20,32] x, int64[1,4] ids) => (float[1,1,32] y)
<float[1] small = {0.01}, float[1] large = {40.0}, int64[1] zero = {0}, int64[1] one = {1}> {
    rows = Gather(table, ids)
    token = Slice(rows, zero, one, one)
    tiny = Mul(token, small)
    huge = Mul(x, large)
    all = Concat<axis = 1>(tiny, huge)
    sum = Add(all, all)
    read = Slice(sum, zero, one, one)
    even = LayerNormalization<axis = -1>(read, scale, shift)
    y = MatMul(even, weight)
}"""


def saved(path: Path, text: str, weights: dict[str, Array]) -> ModuleOp:
    """Canonical top IR of a model with these weights."""
    model: Any = onnx.parser.parse_model(text)
    for name, values in weights.items():
        model.graph.initializer.append(numpy_helper.from_array(values.astype(np.float32), name))
    path.write_bytes(model.SerializeToString())
    return canonical_top(path)


@pytest.fixture
def tokens(tmp_path: Path) -> ModuleOp:
    """A token of small numbers beside patches of large ones; only the token is read."""
    random = np.random.default_rng(0)
    shapes = {"table": (7, 32), "weight": (32, 32), "scale": (32,), "shift": (32,)}
    weights = {name: random.standard_normal(shape) for name, shape in shapes.items()}
    return saved(tmp_path / "tokens.onnx", TOKENS, weights)


def samples(module: ModuleOp) -> list[dict[str, Array]]:
    return [inputs for _, inputs in RandomSamples(module).samples(2)]


def network(module: ModuleOp, folder: Path) -> tuple[Network, Observation]:
    inputs = samples(module)

    def run(show: Any) -> None:
        for one in inputs:
            run_module(module, one, trace=show)

    return Network(module, inputs, folder), Observation.of(run)


def test_random_ids_are_rows_of_their_table(tokens: ModuleOp) -> None:
    drawn = [inputs["ids"] for _, inputs in RandomSamples(tokens).samples()]
    assert len(drawn) == 8
    assert 0 <= min(map(np.min, drawn)) < max(map(np.max, drawn)) == 6


TURNED = """<ir_version: 9, opset_import: ["" : 17]>
agraph (float[1,4,196,16] x, float[1,4,196,16] v) => (float[1,4,16,16] y) {
    keys = Abs(x)
    values = Abs(v)
    shares = Softmax<axis = 2>(keys)
    columns = Transpose<perm = [0, 1, 3, 2]>(shares)
    y = MatMul(columns, values)
}"""


def test_layers_have_the_names_that_lowering_finds(tmp_path: Path) -> None:
    """What is written transposed has another name than in the network."""
    net, observed = network(saved(tmp_path / "turned.onnx", TURNED, {}), tmp_path)
    table = observed.table("max")
    layers = Layers.of(net, table)
    (softmax,) = (op for op in layers.default if isinstance(op, top.SoftmaxOp))
    name = name_of(softmax)
    assert name == "shares_Softmax_turned"
    modes = layers.modes((), dict.fromkeys(layers.default, "F32"))
    assert modes[name] == "F32"
    assert formats_of(net.lowered(table, modes))[name] == "F32"
    assert formats_of(net.lowered(table, {"shares_Softmax": "F32"}))[name] == "F32"


def test_a_token_far_smaller_than_the_patches_is_not_lost(tokens: ModuleOp, tmp_path: Path) -> None:
    net, observed = network(tokens, tmp_path)
    assert net.cosine(observed.table("max"), {}) > 0.99


def test_rounding_foretells_the_lowered_network(tokens: ModuleOp, tmp_path: Path) -> None:
    net, observed = network(tokens, tmp_path)
    layers = Layers.of(net, observed.table("max"))
    eight = dict.fromkeys(layers.in_8_bits, "INT8")
    foretold = 1 - layers.rounded.noise(eight) / 2
    assert foretold == pytest.approx(net.cosine(observed.table("max"), {}), abs=2e-3)
    assert layers.rounded.noise({}) == 0.0


def test_a_target_is_reached_by_a_mixture(tokens: ModuleOp, tmp_path: Path) -> None:
    net, observed = network(tokens, tmp_path)
    found = quantise(net, observed.table, Wanted("max", 99.99, False, 0.99999))
    assert found.cosine < 0.99999 <= found.reached
    assert 0 < len(found.modes) <= 6
    names = {name_of(op) for op in find_main(tokens)[1].body.block.ops if op.results}
    assert set(found.modes) <= names
    assert net.cosine(found.table, found.modes) == found.reached


ISLAND = """<ir_version: 9, opset_import: ["" : 17]>
agraph (float[1,64,256] x) => (float[1,64,256] y) {
    small = Mul(x, tiny)
    d = MatMul(small, weight)
    e = LayerNormalization<axis = -1>(d, scale, shift)
    f = Add(e, d)
    g = LayerNormalization<axis = -1>(f, scale, shift)
    h = MaxPool<kernel_shape = [3], pads = [1, 1]>(g)
    i = LayerNormalization<axis = -1>(h, scale, shift)
    y = Add(i, g)
}"""


def test_no_mixture_is_slower_than_the_network_without_8_bits(tmp_path: Path) -> None:
    """Noise alone would leave `h` in 8 bits, between norms in F16: casts cost more."""
    random = np.random.default_rng(0)
    weights = {
        "scale": random.standard_normal(256),
        "shift": random.standard_normal(256),
        "weight": random.standard_normal((256, 256))
        * np.exp(2 * random.standard_normal((256, 256))),
        "tiny": random.standard_normal(256) ** 3,
    }
    net, observed = network(saved(tmp_path / "island.onnx", ISLAND, weights), tmp_path)
    table = observed.table("max")
    layers = Layers.of(net, table)
    alone = layers.modes(layers.in_8_bits, layers.in_float())
    found = find_mixture(net, table, 0.999)
    kept = {name: mode for name, mode in alone.items() if not name.startswith("h_")}
    (island,) = islands(
        layers.rounded.ops,
        [op for op in layers.in_8_bits if name_of(op.results[0]) not in kept],
        layers.rates,
    )
    assert name_of(island.results[0]) == "h_MaxPool"
    assert not islands(layers.rounded.ops, layers.in_8_bits[:2], layers.rates)
    assert net.cosine(table, kept) >= 0.999
    assert net.cycles(table, found.modes) <= net.cycles(table, alone) < net.cycles(table, kept)
    assert found.cosine >= 0.999


def test_what_is_good_in_8_bits_is_not_slower_for_it(tmp_path: Path) -> None:
    """The goal is met at once; what is between norms is faster in F16 all the same."""
    random = np.random.default_rng(0)
    weights = {name: random.standard_normal(256) for name in ("scale", "shift", "tiny")}
    weights["weight"] = random.standard_normal((256, 256))
    net, observed = network(saved(tmp_path / "island.onnx", ISLAND, weights), tmp_path)
    found = quantise(net, observed.table, Wanted("max", 99.99, False, 0.9))
    assert found.cosine >= 0.9
    assert "h_MaxPool" in found.modes
    assert net.cosine(found.table, found.modes) == found.reached >= 0.9
    assert net.cycles(found.table, found.modes) < net.cycles(found.table, {})
    assert not quantise(net, observed.table, Wanted("max", 99.99, False, None)).modes


def test_what_8_bits_save_is_the_chips(tmp_path: Path) -> None:
    """An array twice as fast in 8 bits, half the bytes, twice the elements of an instruction."""
    chip = load_chip("bm1684x")
    rates = Rates.of(chip)
    array = chip.lanes * chip.cube_channels[2] * chip.cube_outputs[2]
    assert rates.macs == 2 * array
    assert rates.computed == 2 * rates.cast == 2 * chip.lanes * chip.eu(2)
    assert Rates.of(replace(chip, lanes=chip.lanes // 2)).macs == array
    assert Rates.of(replace(chip, load_bytes_per_cycle=1, tensor_derate=1.0)).moved == 1


def test_corrected_biases_bring_means_closer(tmp_path: Path) -> None:
    """Weights that all round the same way: what a channel gives has another mean."""
    text = """<ir_version: 9, opset_import: ["" : 17]>
    agraph (float[1,8,9,9] x) => (float[1,4,9,9] y) {
        up = Abs(x)
        y = Conv(up, w)
    }"""
    weights = np.full((4, 8, 1, 1), 63.4 / 127) * (-1.0) ** np.arange(4).reshape(4, 1, 1, 1)
    weights[:, 0] = 1.0
    module = saved(tmp_path / "conv.onnx", text, {"w": weights})
    net, observed = network(module, tmp_path)
    plain = quantise(net, observed.table, Wanted("max", 99.99, False))
    corrected = quantise(net, observed.table, Wanted("max", 99.99, True))
    (values,) = bias_corrections(corrected.table).values()
    assert len(values) == 4
    errors = [np.abs(mean_errors(net, one.table)).max() for one in (plain, corrected)]
    assert errors[1] < errors[0] / 4


def mean_errors(net: Network, table: CalibrationTable) -> Array:
    """Of every channel, over both samples."""
    module = net.lowered(table, {})
    found = [next(iter(run_module(module, one).values())) for one in net.samples]
    pairs = zip(found, net.expected, strict=True)
    return np.mean([(ours - exact[0]).mean(axis=(0, 2, 3)) for ours, exact in pairs], axis=0)
