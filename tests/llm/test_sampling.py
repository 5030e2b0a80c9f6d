"""Drawing tokens by the chances that the net `sample_head` gives, against the rule in numpy."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.llm.test_programs import IDS, LENGTH
from tests.llm.tiny import write

from xdsl_tpu.backend.bmodel import Bmodel
from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.execute import LoadedProgram
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.frontend.llm import open_model
from xdsl_tpu.frontend.llm.sampling import FEWEST, MOST, NET, sample_net
from xdsl_tpu.frontend.llm.stages import Stages
from xdsl_tpu.tools import tpu_generate
from xdsl_tpu.tools.llm.choice import Chances, chip_sampler
from xdsl_tpu.tools.llm.compile_llm import compile_llm
from xdsl_tpu.tools.llm.session import Nets, Session

Array = npt.NDArray[Any]


def rule(logits: Array, text: Array, chances: Chances) -> tuple[Array, Array]:
    """Chances of the best tokens, and the tokens, in double precision."""
    scores = logits.astype(np.float64)
    seen = np.unique(text)
    old = scores[seen]
    scores[seen] = np.where(old < 0, old * chances.penalty, old / chances.penalty)
    order = np.argsort(-scores, kind="stable")[: min(MOST, logits.size)]
    weights = np.exp((scores[order] - scores[order[0]]) / chances.temperature)
    weights[chances.top_k :] = 0
    together = np.cumsum(weights) / weights.sum()
    weights[(together >= chances.share) & (np.arange(weights.size) >= FEWEST)] = 0
    return weights / weights.sum(), order


CHANCES = [
    Chances(),
    Chances(0.7, 20, 0.6, 1.1),
    Chances(0.05, MOST, 0.9, 1.3),
    Chances(30.0, 7, 0.99),
    Chances(1.0, 1),
    Chances(1.0, 3, 0.0),
    Chances(1.0, MOST, 0.0, 0.8),
]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A tiny model and what it is compiled to."""
    folder = tmp_path_factory.mktemp("sampling")
    model = write(folder / "m", "llama")
    given = {"temperature": 0.8, "top_k": 9, "top_p": 0.75, "repetition_penalty": 1.2}
    (model / "generation_config.json").write_text(json.dumps({**given, "do_sample": True}))
    compile_llm(model, folder / "out", None, Stages(LENGTH), "bm1684x")
    return model, folder / "out"


@pytest.mark.parametrize("chances", CHANCES, ids=str)
def test_chances_are_those_of_the_rule(compiled: tuple[Path, Path], chances: Chances) -> None:
    model, out = compiled
    net = LoadedProgram(Bmodel(out / "model.bmodel").read(NET), load_chip("bm1684x"))
    size = net.program.inputs[0].shape[1]
    generator = np.random.default_rng(3)
    for scale in (0.3, 4.0, 20.0):
        logits = (generator.standard_normal(size) * scale).astype(np.float32)
        text = generator.integers(0, size, LENGTH).astype(np.int32)
        given = {
            "m_logits": logits[None],
            "input_ids": text[None],
            "penalty": np.array([chances.penalty], np.float32),
            "temperature": np.array([chances.temperature], np.float32),
            "top_k": np.array([chances.top_k], np.int32),
            "top_p": np.array([chances.share], np.float32),
        }
        expected, order = rule(logits, text, chances)
        found = net.run(given)
        np.testing.assert_array_equal(found["token_idx"][0], order)
        np.testing.assert_allclose(found["probs"][0], expected, rtol=2e-5, atol=1e-6)
        meant = run_module(sample_net(open_model(model), LENGTH), given)
        np.testing.assert_allclose(meant["probs"][0], expected, rtol=2e-5, atol=1e-6)


def test_equal_logits_stay_in_order(compiled: tuple[Path, Path]) -> None:
    nets = Nets(compiled[1])
    found = nets.run(
        NET,
        {
            "m_logits": np.zeros((1, nets.manifest.vocabulary), np.float32),
            "input_ids": np.zeros((1, LENGTH), np.int32),
            "penalty": np.ones(1, np.float32),
            "temperature": np.ones(1, np.float32),
            "top_k": np.array([MOST], np.int32),
            "top_p": np.ones(1, np.float32),
        },
    )
    assert found["token_idx"][0].tolist() == list(range(MOST))
    np.testing.assert_allclose(found["probs"][0], 1 / MOST, rtol=1e-5)


@pytest.mark.parametrize("chances", [Chances(0.7, 20, 0.6, 1.1), Chances(2.0, MOST, 1.0, 1.5)])
def test_drawn_tokens_are_those_of_the_rule(compiled: tuple[Path, Path], chances: Chances) -> None:
    """Twelve tokens of a text, each drawn behind those before it."""
    nets = Nets(compiled[1])
    for seed in range(2):
        choose, generator = chip_sampler(nets, chances, seed), np.random.default_rng(seed)
        session, text = Session(nets), list(IDS[:5])
        logits = session.prompt(text)
        for _ in range(12):
            shares, order = rule(logits, np.array(text), chances)
            expected = int(order[generator.choice(len(order), p=shares)])
            text.append(choose(logits, text))
            assert text[-1] == expected
            logits = session.step(text[-1])


def test_the_tool_draws_by_the_models_own_settings(
    compiled: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of generation_config.json, as far as options do not say otherwise."""
    out, report = compiled[1], tmp_path / "report.json"
    assert Nets(out).manifest.sampling == {
        "temperature": 0.8, "top_k": 9, "top_p": 0.75, "repetition_penalty": 1.2
    }  # fmt: skip
    ids = ["--ids", *map(str, IDS[:5]), "--tokens", "6", "--seed", "4", "--report", str(report)]

    def made(*options: str) -> list[int]:
        with pytest.raises(SystemExit) as done:
            tpu_generate.main([str(out), *ids, "--sample", *options])
        assert not done.value.code
        capsys.readouterr()
        found = json.loads(report.read_text())
        assert found["spent_cycles"]["sample_head"] == 6 * found["nets"]["sample_head"]
        return found["tokens"]

    own = made()
    assert own == made("--temperature", "0.8", "--top-k", "9", "--top-p", "0.75")
    assert own != made("--temperature", "5", "--top-k", "50", "--top-p", "1")
    session = Session(nets := Nets(out))
    choose, text = chip_sampler(nets, Chances(0.8, 9, 0.75, 1.2), 4), list(IDS[:5])
    logits = session.prompt(text)
    for token in own:
        assert choose(logits, text) == token
        text.append(token)
        logits = session.step(token)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--sample", "--temperature", "0"], "temperatures above 0"),
        (["--sample", "--top-k", "51"], "gives the 50 best tokens"),
        (["--sample", "--top-k", "0"], "gives the 50 best tokens"),
        (["--sample", "--repetition-penalty", "0"], "a number above 0"),
        (["--repetition-penalty", "1.1"], "is of --sample"),
    ],
)
def test_what_is_refused(
    compiled: tuple[Path, Path],
    options: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as done:
        tpu_generate.main([str(compiled[1]), "--ids", "5", "--tokens", "2", *options])
    assert done.value.code == 1
    assert said in capsys.readouterr().err


def test_a_model_without_the_net(compiled: tuple[Path, Path]) -> None:
    nets = Nets(compiled[1])
    kept = {name: alike for name, alike in nets.manifest.alike.items() if name != NET}
    nets.manifest = replace(nets.manifest, alike=kept)
    with pytest.raises(TpuError, match="compile it again"):
        chip_sampler(nets, Chances(), 0)
