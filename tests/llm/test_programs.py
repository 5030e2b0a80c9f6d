"""All nets of a model in one bmodel, and texts that the machine makes with them."""

import json
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.llm.tiny import IDS, models, save, values, write

from xdsl_tpu.backend.bmodel import Bmodel
from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.estimate.families import DECODE, PREFILL
from xdsl_tpu.backend.execute import LoadedProgram, execute
from xdsl_tpu.backend.operands import accesses
from xdsl_tpu.backend.tensor import DType
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.llm import WeightFormat, open_model
from xdsl_tpu.frontend.llm.reference import Reference
from xdsl_tpu.frontend.llm.stages import Stages
from xdsl_tpu.tools import tpu_compile, tpu_generate
from xdsl_tpu.tools.llm.choice import greedy, sampler
from xdsl_tpu.tools.llm.compile_llm import compile_llm
from xdsl_tpu.tools.llm.session import Nets, Session

LENGTH = 24


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the tiny Llama's nets, in F16."""
    folder = tmp_path_factory.mktemp("llama")
    compile_llm(write(folder / "m", "llama"), folder / "out", None, Stages(LENGTH), "bm1684x")
    return folder / "out"


def deeper(folder: Path, layers: int) -> Path:
    """The tiny Qwen2 with more layers."""
    write(folder, "qwen2")
    model = models()["qwen2"]
    shapes = dict(model["tensors"])
    config = {**model["config"], "num_hidden_layers": layers, "layer_types": None}
    shapes |= {
        name.replace("layers.1.", f"layers.{index}."): shape
        for name, shape in model["tensors"].items()
        for index in range(2, layers)
        if "layers.1." in name
    }
    tensors = {name: values(name, tuple(shape), False) for name, shape in shapes.items()}
    save(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def agrees(
    model: Path, output: Path, ids: Sequence[int], tokens: int, length: int = LENGTH
) -> None:
    """Logits of a prompt and of greedy steps are those of the reference, choices as good."""
    nets = Nets(output)
    session = Session(nets)
    found = [session.prompt(ids)]
    made = list(ids)
    for _ in range(tokens - 1):
        made.append(greedy(found[-1], ids))
        found.append(session.step(made[-1]))
    reference = Reference(open_model(model, nets.manifest.format))
    expected = reference.logits(made, length)[len(ids) - 1 :]
    for ours, theirs in zip(found, expected, strict=True):
        cosine = ours @ theirs / (np.linalg.norm(ours) * np.linalg.norm(theirs))
        assert cosine >= 0.9999
        assert theirs[greedy(ours, ids)] >= theirs.max() - 0.02  # random weights make near ties


def test_layers_alike_are_compiled_once_and_each_has_its_weights(tmp_path: Path) -> None:
    model = deeper(tmp_path / "model", 4)
    result = compile_llm(model, tmp_path / "out", None, Stages(LENGTH), "bm1684x")
    assert len(result.manifest.alike) == 13
    assert sorted(result.compiled) == sorted(
        ["embedding", "embedding_cache", "lm_head", "greedy_head", "sample_head"]
        + [f"{kind}_{index}" for kind in ("block", "block_cache") for index in (0, 3)]
    )
    file = Bmodel(tmp_path / "out/model.bmodel")
    images = {name: file.read(name).coefficients.tobytes() for name in file.names}
    for index in range(4):
        assert images[f"block_{index}"] == images[f"block_cache_{index}"]
    first, second = (file.read(f"block_cache_{index}").tiu for index in (0, 1))
    assert all(one is other for one, other in zip(first, second, strict=True))  # decoded once
    # Four layers, embeddings with the tied lm_head, the places of tokens, what draws them.
    assert len(set(images.values())) == 7
    assert images["embedding"] == images["lm_head"]
    agrees(model, tmp_path / "out", IDS[:8], 5)


def test_layer_norms_and_an_ungated_mlp_beside_attention(tmp_path: Path) -> None:
    """Phi-2 has biases everywhere, also of the output matrix."""
    model = write(tmp_path / "model", "phi")
    compile_llm(model, tmp_path / "out", None, Stages(LENGTH), "bm1684x")
    agrees(model, tmp_path / "out", IDS[:8], 4)


def test_where_keys_and_values_lie(llama: Path) -> None:
    """The new row of a decoding net lies right behind its history, apart from the arena."""
    program = Bmodel(llama / "model.bmodel").read("block_cache_0")
    at = {one.name: one for one in (*program.inputs, *program.outputs)}
    assert list(at) == [
        *("input_states", "position_ids", "attention_mask", "history_k", "history_v"),
        *("output_states", "k_cache", "v_cache"),
    ]
    for name in "kv":
        history = at[f"history_{name}"]
        assert at[f"{name}_cache"].address == history.address + history.bytes
        assert history.address % 4096 == 0
    for one in at.values():
        assert 0 <= one.address - program.io_address < program.io_bytes
    assert program.arena_address == program.io_address + program.io_bytes


def test_where_they_lie_on_a_chip_whose_addresses_have_tags(tmp_path: Path) -> None:
    """Files name inputs and outputs of a decoding net from the vendor's address on, of which the
    chip's commands have bit 39, too, and no tag: the runtime finds them by that."""
    compile_llm(write(tmp_path / "m", "llama"), tmp_path / "out", None, Stages(LENGTH), "bm1688")
    path = tmp_path / "out/model.bmodel"
    program, chip = Bmodel(path).read("block_cache_0"), load_chip("bm1688")
    assert (program.io_address, chip.io_base_in_files) == (chip.io_base, 0x1_0000_0000)
    places = {one.name: one.address for one in (*program.inputs, *program.outputs)}
    transfers = [command for command in program.gdma if command.form.name != "sDMA_sys"]
    touched = {one.address for command in transfers for one in accesses(command, chip)}
    assert {places["history_k"], places["k_cache"], places["output_states"]} <= touched
    data = path.read_bytes()
    for address in places.values():
        assert address >> 36 == 0b1000
        assert struct.pack("<Q", address - (1 << 39)) in data


def test_what_the_vendors_chat_programs_rely_on(llama: Path) -> None:
    """Positions and mask of a prompt are written once, before the first block: with one arena for
    all nets they must lie at the same place in each, and stay there. Logits are f32, as the net
    that chooses from them wants them."""
    file, chip = Bmodel(llama / "model.bmodel"), load_chip("bm1684x")
    generator = np.random.default_rng(0)
    places = set[tuple[int, ...]]()
    for index in range(2):
        program = file.read(f"block_{index}")
        places.add(tuple(one.address - program.arena_address for one in program.inputs))
        given = {
            one.name: generator.integers(0, LENGTH, one.shape).astype(np.int32)
            if one.name == "position_ids"
            else generator.standard_normal(one.shape).astype(np.float16)
            for one in program.inputs
        }
        memory = execute(program, chip, given, lambda machine, command: None).memory
        for one in program.inputs:
            kept = memory.read(one.address, one.shape, one.dtype.numpy)
            assert kept.tobytes() == given[one.name].tobytes()
    assert len(places) == 1
    head, chooser = file.read("lm_head"), file.read("greedy_head")
    assert {one.dtype for one in (*head.outputs, *chooser.inputs)} == {DType.F32}
    machine = LoadedProgram(chooser, chip)
    logits = generator.standard_normal(chooser.inputs[0].shape).astype(np.float32)
    assert machine.run({"m_logits": logits})["token_id"].tolist() == [[int(logits.argmax())]]
    logits[0, [40, 17, 90]] = logits.max() + np.float32(1)
    assert machine.run({"m_logits": logits})["token_id"].tolist() == [[17]]


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("qwen3", WeightFormat("F16")),
        ("phi3_partial", WeightFormat("W4F16", 32, head="W8")),
        ("gemma3", WeightFormat("F16")),
    ],
)
def test_the_machine_says_what_the_reference_says(
    tmp_path: Path, name: str, weights: WeightFormat
) -> None:
    model = write(tmp_path / "m", name)
    compile_llm(model, tmp_path / "out", weights, Stages(LENGTH), "bm1684x")
    agrees(model, tmp_path / "out", IDS[:10], 4)


def test_two_cores_say_what_one_says(tmp_path: Path) -> None:
    """Packed matrices on a chip with two cores, of which each makes a part of the outputs: the
    same logits to the bit."""
    model, weights = write(tmp_path / "m", "qwen2"), WeightFormat("W4F16", 64)
    logits: list[list[np.ndarray]] = []
    for cores in (1, 2):
        out = tmp_path / f"on{cores}"
        compile_llm(model, out, weights, Stages(LENGTH), "bm1688", cores=cores)
        session = Session(Nets(out))
        logits.append([session.prompt(IDS[:10]), *(session.step(one) for one in IDS[10:13])])
    assert all(np.array_equal(one, two) for one, two in zip(*logits, strict=True))
    first, second = Bmodel(tmp_path / "on2/model.bmodel").read("block_cache_0").cores
    packed = {"tpu.A16MatMul"}
    for core in (first, second):
        assert packed <= {first.layers[layer].op for layer in core.tiu_layers if layer >= 0}
    agrees(model, tmp_path / "on2", IDS[:10], 4)


def test_the_tools(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, out = write(tmp_path / "m", "llama"), tmp_path / "out"
    with pytest.raises(SystemExit) as done:
        tpu_compile.main(["--llm", str(model), "--seq", "16", "-o", str(out), "--quiet"])
    assert not done.value.code
    report = tmp_path / "report.json"
    start = [str(out), "--ids", "5", "7", "9", "--tokens", "3", "--report", str(report)]
    with pytest.raises(SystemExit) as done:
        tpu_generate.main([*start, "--against", str(model)])
    assert not done.value.code
    found = json.loads(report.read_text())
    assert found["against"]["cosine"] > 0.9999
    assert found["against"]["of"] == 3
    shown = capsys.readouterr().out
    assert "tokens/s" in shown
    assert " ".join(map(str, [5, 7, 9, *found["tokens"]])) in shown
    with pytest.raises(SystemExit) as done:
        tpu_generate.main([str(out), "--no-values", "--report", str(report)])
    assert not done.value.code
    assert json.loads(report.read_text())["nets"] == found["nets"]
    words = " ".join(capsys.readouterr().out.split())
    for what, family in (("first_token", PREFILL), ("token", DECODE)):
        silicon = found["on_silicon"][what]
        assert silicon["wanted"] == f"F16 {family}"
        assert (silicon["low"] is None) == (silicon["rows"] < 3)
        label = "first token" if what == "first_token" else "a token"
        said = f"{silicon['low']:.3f} - " if silicon["rows"] >= 3 else "not known: "
        assert f"{label} on silicon: {said}" in words


def test_drawing() -> None:
    logits = np.array([1.0, 3.0, 2.0, -1.0], np.float32)
    assert sampler(0, 0, 1, 0)(logits, [0]) == 1
    assert {sampler(1, 1, 1, seed)(logits, [0]) for seed in range(20)} == {1}
    assert {sampler(1, 2, 1, seed)(logits, [0]) for seed in range(50)} == {1, 2}
    assert {sampler(1, 0, 0.5, seed)(logits, [0]) for seed in range(20)} == {1}
    assert sampler(1, 0, 1, 7)(logits, [0]) == sampler(1, 0, 1, 7)(logits, [0])


def test_what_a_session_refuses(llama: Path) -> None:
    session = Session(Nets(llama))
    long = [1] * (LENGTH + 1)
    for ids, message in (([], "prompt of 0"), (long, "prompt of 25"), ([1, 96], "token 96")):
        with pytest.raises(TpuError, match=message):
            session.prompt(ids)
    session.prompt(long[1:])
    with pytest.raises(TpuError, match="full"):
        session.step(1)
