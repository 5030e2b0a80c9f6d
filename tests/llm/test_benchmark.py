"""The figures of `benchmarks/llm.py`, on a model so small that they can be told by hand."""

import json
import sys
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from xdsl_tpu.frontend.llm.formats import WeightFormat

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

cycles: Any = attrgetter("cycles")

SIZES = {
    "hidden_size": 128,
    "intermediate_size": 192,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "vocab_size": 320,
}


@pytest.fixture(autouse=True)
def _path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [str(BENCHMARKS), *sys.path])


def benchmark(name: str) -> Any:
    return import_module(name)


def test_what_a_model_must_move_and_take(monkeypatch: pytest.MonkeyPatch) -> None:
    llm, models = benchmark("llm"), benchmark("llm_models")
    known = models.CONFIGURATIONS["qwen2.5-1.5b"]
    monkeypatch.setitem(models.CONFIGURATIONS, "small", {**known, **SIZES})
    model = models.SeededModel("small", WeightFormat("W4F16", head="W8"))
    decode, prefill = llm.phases(model, 64, 1)
    # q, k, v, o, gate, up, down: half a byte a weight, and 3 bytes for 64 of them
    weights = 128 * 128 + 2 * 64 * 128 + 128 * 128 + 3 * 192 * 128
    packed = weights // 2 + weights // 64 * 3
    others = 2 * (2 * 128 + 128 + 2 * 64)  # norms and biases
    inputs = 2 * (128 + 65 + 2 * 64 * 64) + 4
    expected = (packed + others + inputs) / (58 / 1.0737)
    assert decode.first.floor == pytest.approx(expected, rel=1e-3)
    assert decode.last.floor > decode.first.floor, "the last block ends with the final norm"
    assert decode.once is not None
    assert decode.once.floor == pytest.approx(320 * 128 * (1 + 3 / 64) / (58 / 1.0737), rel=0.02)
    for phase in (decode, prefill):
        assert phase.layers == 3
        assert phase.total(cycles) > phase.total(attrgetter("floor"))
        extra = 0 if phase.once is None else phase.once.cycles
        assert phase.total(cycles) == 2 * phase.first.cycles + phase.last.cycles + extra
    lines = list(llm.table("small", [decode, prefill], ("small", "W4F16", 64)))
    assert len(lines) == 7


def test_several_tokens_and_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    llm, models = benchmark("llm"), benchmark("llm_models")
    known = models.CONFIGURATIONS["qwen2.5-1.5b"]
    monkeypatch.setitem(models.CONFIGURATIONS, "small", {**known, **SIZES})
    model = models.SeededModel("small", WeightFormat("W4F16", head="W8"))
    decode, chunk = llm.phases(model, 64, 2, 64)
    assert decode.once.floor > 0
    assert [decode.name, chunk.name] == ["decode", "chunk"], "no figure of the vendor's is for it"
    macs = 2 * 2 * 64 * 128 * 64  # scores and what they mix: 2 heads, 64 rows, 128 keys of 64
    linear = 64 * (128 * 128 + 2 * 64 * 128 + 128 * 128 + 3 * 192 * 128)
    net = llm.history_net(model, "block_kv", llm.Block(0, 64, 64, 128))
    list(llm.run_passes(net, llm.pipeline("top", llm.Settings("F16", "bm1684x")), "top"))
    list(llm.run_passes(net, llm.pipeline("tpu", llm.Settings("F16", "bm1684x")), "tpu"))
    assert llm.needs_of(net).macs == linear + macs


def test_every_figure_of_the_vendor_is_of_a_model_that_is_known() -> None:
    models, vendor = benchmark("llm_models"), benchmark("llm_vendor")
    assert {model for model, _, _ in vendor.VENDOR} <= set(models.CONFIGURATIONS)
    assert vendor.VENDOR["qwen2.5-1.5b", "W4F16", 512]["decode"] == 521379


def test_greedy_texts_are_compared_token_by_token(monkeypatch: pytest.MonkeyPatch) -> None:
    greedy: Any = benchmark("llm_greedy")

    class Reference:
        """Takes 7 for the next token, but 3 once nine tokens are there."""

        def logits(self, ids: list[int], length: int) -> Any:
            return np.eye(10, dtype=np.float32)[[3 if len(ids) > 9 else 7]]

    class Host:
        """Always takes 7."""

        def prompt(self, ids: list[int]) -> Any:
            return np.eye(10, dtype=np.float32)[7] + 0.1

        def step(self, token: int) -> Any:
            assert token == 7
            return np.eye(10, dtype=np.float32)[7] + 0.1

    class Nets:
        manifest = SimpleNamespace(vocabulary=10, length=20)

    def host(nets: Any) -> Host:
        return Host()

    monkeypatch.setattr(greedy, "Session", host)
    found = greedy.compared(Nets(), Reference(), 1, 4)
    assert (found.same, found.tokens) == (2, 4)
    assert 0 < found.cosine < 0.5
    assert greedy.compared(Nets(), Reference(), 1, 2).same == 2


def test_published_speeds_stand_beside_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A prompt ends with the output matrix, as a token does; no range where none was published."""
    silicon, llm, models = (benchmark(name) for name in ("llm_silicon", "llm", "llm_models"))
    sizes = {**models.CONFIGURATIONS["qwen2.5-1.5b"], **SIZES}
    monkeypatch.setattr(silicon, "MODELS", {"small": sizes})
    given = {"sequence": "64", "tokens_per_s": "20", "first_token_s": "0.4", "note": ""}
    speeds = [{**given, "model": "small", "precision": precision} for precision in ("W4", "W8")]
    monkeypatch.setattr(silicon, "usable_speeds", lambda: [*speeds, {**speeds[0], "model": "x"}])
    report = tmp_path / "report.json"
    monkeypatch.setattr("sys.argv", ["llm_silicon.py", "--json", str(report)])
    silicon.main()
    prompt, token, *others = json.loads(report.read_text())["rows"]
    model = models.SeededModel("small", WeightFormat("W4F16"), configurations={"small": sizes})
    decode, prefill = llm.phases(model, 64, 1)
    assert token["cycles"] == decode.total(cycles)
    assert prompt["cycles"] == prefill.total(cycles) + decode.once.cycles
    assert (prompt["published_ms"], token["published_ms"]) == (400, 50)
    assert prompt["on_silicon"]["low"] < prompt["on_silicon"]["high"]
    assert [one["on_silicon"]["low"] for one in others] == [None, None]
    shown = capsys.readouterr().out.splitlines()
    assert sum(line.endswith(f"{50 / token['estimate_ms']:.2f} |") for line in shown) == 1
    assert sum("not known" in line for line in shown) == 2


def test_sizes_are_known_of_all_but_doubtful_speeds() -> None:
    hardware, published = benchmark("hardware"), benchmark("llm_published")
    speeds = hardware.usable_speeds()
    assert {row["model"] for row in speeds} == set(published.MODELS)
    assert len(speeds) < len(hardware.rows_of("published_speeds.csv"))
