"""Layers in wider formats must do for more samples than they were chosen on."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.tools.small_models import cnn

from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes.pipelines import Settings, run_stage
from xdsl_tpu.tools import quantise_model as tool
from xdsl_tpu.tools.calibrate_model import RandomSamples, make_engine
from xdsl_tpu.tools.mixing.automatic import Quantised, Tables, Wanted
from xdsl_tpu.tools.mixing.network import Modes, Network


def test_the_worst_of_other_samples_joins(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Sample 5 is bad until it is among those that are measured."""
    model = cnn()
    path = tmp_path_factory.mktemp("net") / "cnn.onnx"
    path.write_bytes(model.SerializeToString())
    module = import_onnx(model)
    run_stage(module, "top", Settings("F32"))
    samples = RandomSamples(module)
    every = [inputs["image"] for _, inputs in samples.samples(8)]
    measured: list[list[int]] = []

    def numbers(network: Network) -> list[int]:
        return [
            next(n for n, image in enumerate(every) if np.array_equal(image, one["image"]))
            for one in network.samples
        ]

    def quantise(
        network: Network, tables: Tables, wanted: Wanted, on_step: Callable[[str], None]
    ) -> Quantised:
        measured.append(numbers(network))
        return Quantised(tables("max", 100.0), "max", False, 0.5, {"stem": "F16"}, 0.999)

    def cosines(self: Network, table: Any, modes: Modes) -> list[float]:
        return [0.5 if n == 5 else 0.995 for n in numbers(self)]

    monkeypatch.setattr(tool, "quantise", quantise)
    monkeypatch.setattr(Network, "cosines", cosines)
    engine = make_engine(module, path, "auto")
    tool.quantise_model(module, engine, samples, Wanted(target=0.99))
    assert measured == [[0, 1], [0, 1, 5]]
