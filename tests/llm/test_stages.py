"""Nets in several stages: prompts in chunks, short histories, several tokens a step."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.llm.test_programs import agrees, deeper
from tests.llm.tiny import IDS, write

from xdsl_tpu.backend.bmodel import Bmodel
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.llm import WeightFormat, open_model
from xdsl_tpu.frontend.llm.nets import HIDDEN_MASK, decode_mask, prefill_mask
from xdsl_tpu.frontend.llm.reference import Reference
from xdsl_tpu.frontend.llm.stages import Stages
from xdsl_tpu.tools import tpu_compile, tpu_generate
from xdsl_tpu.tools.llm.choice import greedy
from xdsl_tpu.tools.llm.compile_llm import compile_llm
from xdsl_tpu.tools.llm.generate import Made, generate, guessed
from xdsl_tpu.tools.llm.session import Nets, Session

LENGTH, CHUNK = 34, 17
STAGES = Stages(LENGTH, CHUNK, (4,))


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the tiny Llama's nets in all of `STAGES`, as the tool makes them."""
    folder = tmp_path_factory.mktemp("llama")
    model, out = write(folder / "m", "llama"), folder / "out"
    options = ["--seq", "34", "--chunk", "17", "--steps", "4", "-o", str(out), "--quiet"]
    with pytest.raises(SystemExit) as done:
        tpu_compile.main(["--llm", str(model), *options])
    assert not done.value.code
    return out


def test_which_stages_there_are() -> None:
    plain = Stages(2048)
    assert (plain.prompt, plain.rows, plain.histories) == (2048, (1,), (2048,))
    assert plain.prompt_histories == ()
    stages = Stages(2048, 512, (8, 4))
    assert (stages.prompt, stages.rows) == (512, (1, 4, 8))
    assert stages.histories == (2048, 1024, 512)
    assert stages.prompt_histories == (1536, 1024, 512)
    assert Stages(1025, 512).prompt_histories == (1024, 512)
    assert Stages(700, 512).prompt_histories == (512,)


@pytest.mark.parametrize(
    ("length", "chunk", "steps", "message"),
    [
        (64, 64, (), "chunks of 64"),
        (64, 1, (), "chunks of 1"),
        (64, 0, (1,), "steps of 1"),
        (256, 0, (65,), "steps of 65"),
        (4, 0, (8,), "steps of 8"),
    ],
)
def test_stages_that_do_not_fit(
    length: int, chunk: int, steps: tuple[int, ...], message: str
) -> None:
    with pytest.raises(TpuError, match=message):
        Stages(length, chunk, steps)


@pytest.mark.parametrize("window", [None, 3, 20])
def test_masks_of_several_tokens(window: int | None) -> None:
    """Tokens see what those of a prompt of all of them see, and no place without a token."""
    history, there, rows = 9, 6, 4
    whole = prefill_mask(there + rows, window)[0, 0, there:]
    mask = decode_mask(there, history, window, rows)[0, 0]
    np.testing.assert_array_equal(mask[:, :there], whole[:, :there])
    np.testing.assert_array_equal(mask[:, history:], whole[:, there:])
    assert np.all(mask[:, there:history] == HIDDEN_MASK)


def test_all_stages_have_one_image_and_one_place_for_each_tensor(tmp_path: Path) -> None:
    model = deeper(tmp_path / "model", 4)
    compile_llm(model, tmp_path / "out", None, Stages(40, 16, (4,)), "bm1684x")
    file = Bmodel(tmp_path / "out/model.bmodel")
    for index in range(4):
        images = {file.read(f"block_{index}").coefficients.tobytes()}
        for kind, count in (("block_cache", 6), ("block_kv", 2)):
            name = f"{kind}_{index}"
            assert file.stages(name) == count
            stages = [file.read(name, stage) for stage in range(count)]
            images |= {one.coefficients.tobytes() for one in stages}
            assert len({(one.io_address, one.io_bytes) for one in stages}) == 1
            places = {
                tuple(t.address for t in (*one.inputs, one.outputs[0])) for one in stages
            }  # fmt: skip
            assert len(places) == 1, "what is there for one stage is there for all"
            for one in stages:
                at = {t.name: t for t in (*one.inputs, *one.outputs)}
                for name in "kv":
                    history = at[f"history_{name}"]
                    assert at[f"{name}_cache"].address == history.address + history.bytes
        assert len(images) == 1
    first = file.shapes("block_cache_0")
    assert first["input_states"][1] == 1
    assert first["history_k"][1] == 40, "hosts that know of one stage take the first"


@pytest.mark.parametrize(
    ("name", "weights"),
    [("gemma3", None), ("qwen3", WeightFormat("W8F16", 32, head="W8"))],
)
def test_chunks_and_steps_say_what_the_reference_says(
    tmp_path: Path, name: str, weights: WeightFormat | None
) -> None:
    """Also with windows, and with matrices that are packed."""
    folder, out = write(tmp_path / "m", name), tmp_path / "out"
    compile_llm(folder, out, weights, STAGES, "bm1684x")
    nets = Nets(out)
    agrees(folder, out, IDS[:20], 4, LENGTH)  # a chunk, a step of 4, steps of 1
    reference = Reference(open_model(folder, nets.manifest.format))
    ids = [*IDS[:23], *IDS[:10]]
    expected = reference.logits(ids, LENGTH)
    session = Session(nets)
    logits = [session.prompt(ids[:27])]  # two chunks, the second one not full
    logits += [*session.steps(ids[27:31]), *session.steps([5, 6])]
    session.forget(2)
    logits = [*logits[:-2], *session.steps(ids[31:])]
    for ours, theirs in zip(logits, expected[26:], strict=True):
        assert ours @ theirs / (np.linalg.norm(ours) * np.linalg.norm(theirs)) >= 0.9999
    assert session.position == len(ids)


def test_the_smallest_stage_that_fits_is_run(llama: Path) -> None:
    nets = Nets(llama)
    session = Session(nets)
    assert (session.chunk, session.most) == (CHUNK, 4)
    stages = nets.stages("block_cache_0")
    used: list[tuple[int, int]] = []
    session.prompt(IDS[:16])
    for tokens in ([1], [1], [2, 3], [4, 5, 6, 7]):
        before = nets.spent["block_cache"] if used else 0
        session.steps(tokens)
        cost = nets.spent["block_cache"] - before
        fitting = [
            stage
            for stage in range(len(stages))
            if sum(nets.cycles(f"block_cache_{i}", stage) for i in range(2)) == cost
        ]
        used.append((stages[fitting[0]]["input_states"][1], stages[fitting[0]]["history_k"][1]))
    assert used == [(1, 17), (1, 17), (4, 34), (4, 34)]
    with pytest.raises(TpuError, match="full"):
        session.steps([1] * 12)


def test_guesses() -> None:
    assert guessed([1, 2, 3, 9, 1, 2, 3], 4) == [9, 1, 2, 3]
    assert guessed([1, 2, 3, 9, 1, 2, 3], 1) == [9]
    assert guessed([7, 1, 8, 1], 3) == [8, 1], "the last token alone is enough"
    assert guessed([5, 1, 2, 6, 1, 2, 8, 4, 2], 1) == [8], "the last occurrence counts"
    assert guessed([1, 2, 3], 2) == []
    assert guessed([1], 2) == []
    assert guessed([1, 1], 0) == []


class Echo:
    """A host whose text repeats itself, and who remembers what it was asked."""

    def __init__(self, period: int, size: int) -> None:
        self.period, self.size, self.text = period, size, list[int]()
        self.asked: list[int] = []

    def _next(self) -> np.ndarray:
        logits = np.zeros(self.size, np.float32)
        logits[self.text[-self.period] if len(self.text) >= self.period else 0] = 1
        return logits

    def prompt(self, ids: Sequence[int]) -> np.ndarray:
        self.text = list(ids)
        return self._next()

    def steps(self, tokens: Sequence[int]) -> np.ndarray:
        self.asked.append(len(tokens))
        found: list[np.ndarray] = []
        for token in tokens:
            self.text.append(token)
            found.append(self._next())
        return np.stack(found)

    def forget(self, count: int) -> None:
        del self.text[len(self.text) - count :]


@pytest.mark.parametrize("count", [1, 6, 9])
def test_several_tokens_a_step_make_the_same_text(count: int) -> None:
    texts: list[Made] = []
    for most in (1, 4):
        host = Echo(5, 10)
        made = Made()
        for made in generate(host, [1, 2, 3, 2, 4], count, greedy, (), most):
            assert host.text[5:] == made.tokens[:-1]
        texts.append(made)
        assert sum(host.asked) >= made.steps
    assert texts[0].tokens == texts[1].tokens == ([1, 2, 3, 2, 4] * 2)[:count]
    assert len(texts[1].logits) == count
    assert texts[1].steps < texts[0].steps or count == 1


def test_a_text_ends_where_it_ends() -> None:
    for most in (1, 4):
        *_, made = generate(Echo(4, 10), [1, 2, 3, 4], 9, greedy, (3,), most)
        assert made.tokens == [1, 2, 3]


def test_the_tools(llama: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids = [str(one) for one in IDS[:18]]
    for lookup, code in (("1", 0), ("4", 0), ("8", 1)):
        with pytest.raises(SystemExit) as done:
            tpu_generate.main([str(llama), "--ids", *ids, "--tokens", "12", "--lookup", lookup])
        assert (done.value.code or 0) == code
    shown = capsys.readouterr()
    texts = [line for line in shown.out.splitlines() if line.startswith(" ".join(ids[:4]))]
    assert len(texts) == 2
    assert texts[0] == texts[1]
    assert "tokens a step" in shown.out
    assert "--steps 8" in shown.err
    with pytest.raises(SystemExit) as done:
        tpu_compile.main([str(llama.parent / "m"), "--chunk", "16"])
    assert "--chunk is for language models" in capsys.readouterr().err
