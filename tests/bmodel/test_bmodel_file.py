"""bmodel files: a program survives the trip, damaged files are refused with one message."""

import contextlib
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xdsl_tpu.backend.bmodel import read_bmodel, write_bmodel
from xdsl_tpu.backend.bmodel.container import HEADER_BYTES, PAGE
from xdsl_tpu.backend.bmodel.flatbuffer import read_root, write_root
from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.program import IoTensor, Layer, Program
from xdsl_tpu.backend.tensor import DType, aligned, contiguous, strided
from xdsl_tpu.dialects.errors import TpuError

CHIP = load_chip()
BASE = CHIP.ddr_base


@pytest.fixture
def program() -> Program:
    """relu of one tensor."""
    program = Program("tiny", CHIP.name, "F16", coefficient_address=BASE)
    program.coefficients = np.arange(100, dtype=np.uint8)
    program.arena_address, program.arena_bytes = BASE + PAGE, 2 * PAGE
    program.inputs = [IoTensor("x", BASE + PAGE, (1, 8, 4, 4), DType.F16)]
    program.outputs = [IoTensor("y", BASE + 2 * PAGE, (1, 8, 4, 4), DType.F16)]
    emitter = Emitter(CHIP, program)
    shape = (1, 8, 4, 4)
    x, y = (aligned(CHIP, a, shape, DType.F16) for a in (0, 64))
    with emitter.layer("y", "tpu.Relu", 0.25):
        emitter.load(x, contiguous(BASE + PAGE, shape, DType.F16))
        emitter.copy(y, x)
        emitter.store(contiguous(BASE + 2 * PAGE, shape, DType.F16), y)
    emitter.finish()
    return program


def test_round_trip(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "tiny.bmodel"
    write_bmodel(program, path)
    back = read_bmodel(path)
    for field in ("name", "chip", "quantize", "layers", "tiu_layers", "gdma_layers"):
        assert getattr(back, field) == getattr(program, field), field
    for field in ("coefficient_address", "arena_address", "arena_bytes", "inputs", "outputs"):
        assert getattr(back, field) == getattr(program, field), field
    assert np.array_equal(back.coefficients, program.coefficients)
    for mine, theirs in ((program.tiu, back.tiu), (program.gdma, back.gdma)):
        for a, b in zip(mine, theirs, strict=True):
            assert a.form is b.form
            assert {k: v for k, v in (a.form.fixed | dict(a.fields)).items() if v} == b.fields


def test_container_layout(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "tiny.bmodel"
    write_bmodel(program, path)
    data = path.read_bytes()
    magic, header, root, binary = struct.unpack_from("<IIIQ", data)
    assert (magic, header) == (0xFF55AAEE, HEADER_BYTES)
    assert len(data) == header + root + binary
    assert (header + root) % PAGE == 0
    parameter = read_root("Model", data[header : header + root])["net"][0]["parameter"][0]
    for kind in ("bdc", "gdma"):
        group = parameter["cmd_group"][0]
        assert group[f"{kind}_cmd_byte"] == group[f"binary_{kind}"]["size"]
        assert group[f"{kind}_cmd_byte"] % 128 == 0
        assert group[f"binary_{kind}"]["start"] % PAGE == 0
    assert parameter["sub_net"][0]["id"] == 0
    assert parameter["input_tensor"][0]["hidden"] == 1
    assert parameter["output_tensor"][0]["hidden"] == 2


def test_dependencies_follow_from_memory(program: Program) -> None:
    load, store = program.gdma[:2]
    (copy,) = program.tiu[:1]
    assert (load["cmd_id_dep"], copy["cmd_id_dep"], store["cmd_id_dep"]) == (0, 1, 1)


def damaged(data: bytes, kind: str) -> bytes:
    kinds = {
        "not a bmodel": b"",
        "magic": b"PK\3\4" + data[4:],
        "cut off": data[:-1],
        "damaged": data[:HEADER_BYTES] + b"\xff" * 64 + data[HEADER_BYTES + 64 :],
    }
    return kinds[kind]


@pytest.mark.parametrize("message", ["not a bmodel", "magic", "cut off", "damaged"])
def test_damaged_files(program: Program, tmp_path: Path, message: str) -> None:
    path = tmp_path / "bad.bmodel"
    write_bmodel(program, path)
    path.write_bytes(damaged(path.read_bytes(), message))
    with pytest.raises(TpuError, match=message) as error:
        read_bmodel(path)
    assert "bad.bmodel" in str(error.value)


def test_damaged_coefficients(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "bad.bmodel"
    write_bmodel(program, path)
    data = bytearray(path.read_bytes())
    _, header, root, _ = struct.unpack_from("<IIIQ", data)
    data[header + root + 5] ^= 1
    path.write_bytes(data)
    with pytest.raises(TpuError, match="checksum"):
        read_bmodel(path)


@pytest.mark.parametrize("seed", range(20))
def test_random_damage_is_reported_never_raised_otherwise(
    program: Program, tmp_path: Path, seed: int
) -> None:
    path = tmp_path / "bad.bmodel"
    write_bmodel(program, path)
    data = bytearray(path.read_bytes())
    rng = np.random.default_rng(seed)
    root = struct.unpack_from("<I", data, 8)[0]
    for position in rng.integers(HEADER_BYTES, HEADER_BYTES + root, 12):
        data[position] = int(rng.integers(256))
    path.write_bytes(data)
    with contextlib.suppress(TpuError):
        read_bmodel(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TpuError, match="cannot be read"):
        read_bmodel(tmp_path / "none.bmodel")


def test_nothing_is_left_when_writing_fails(program: Program, tmp_path: Path) -> None:
    target = tmp_path / "dir"
    target.mkdir()
    with pytest.raises(IsADirectoryError):
        write_bmodel(program, target)
    assert list(tmp_path.iterdir()) == [target]


def test_a_field_that_does_not_fit_names_the_layer(tmp_path: Path) -> None:
    """Two batches further apart than a stride field says."""
    chip = load_chip()
    program = Program("wide", chip.name, "F16")
    emitter = Emitter(chip, program)
    wide = strided(0, (2, 4, 1, 8), (70000, 8, 8, 1), DType.F16)
    with emitter.layer("blocks.3/copy", "tpu.Reshape"):
        emitter.copy(aligned(chip, 4096, wide.shape, DType.F16), wide)
    emitter.finish()
    with pytest.raises(TpuError, match=r"tpu\.Reshape 'blocks\.3/copy'.*opd0_n_str = 70000"):
        write_bmodel(program, tmp_path / "m.bmodel")
    assert list(tmp_path.iterdir()) == []


def with_table(program: Program, path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """The program's file with a changed flatbuffer."""
    write_bmodel(program, path)
    data = path.read_bytes()
    magic, header, size, binary = struct.unpack_from("<IIIQ", data)
    model = read_root("Model", data[header : header + size])
    change(model)
    root = write_root("Model", model)
    head = struct.pack("<IIIQ", magic, header, len(root), binary).ljust(header, b"\0")
    path.write_bytes(head + root + data[header + size :])


def parameter_of(model: dict[str, Any]) -> dict[str, Any]:
    return model["net"][0]["parameter"][0]


def other_shape(model: dict[str, Any]) -> None:
    parameter_of(model)["input_tensor"][0]["shape"] = [{"dim": [1, 8, 4, 4_000_000_000]}]


def no_tensors(model: dict[str, Any]) -> None:
    del parameter_of(model)["input_tensor"]


def fewer_commands(model: dict[str, Any]) -> None:
    parameter_of(model)["cmd_group"][0]["bdc_num"] = 1


def two_nets(model: dict[str, Any]) -> None:
    model["net"] *= 2


def dynamic(model: dict[str, Any]) -> None:
    parameter_of(model)["is_dynamic"] = 1


CHANGES: list[tuple[Callable[[dict[str, Any]], None], str]] = [
    (other_shape, "damaged .*tensor 'x'.*its size is 256"),
    (no_tensors, "damaged .*input_tensor"),
    (fewer_commands, "damaged .*layers of the TIU commands"),
    (two_nets, "one net"),
    (dynamic, "only static bmodels of one part"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES)
def test_tables_that_do_not_fit(
    change: Callable[[dict[str, Any]], None], message: str, program: Program, tmp_path: Path
) -> None:
    path = tmp_path / "bad.bmodel"
    with_table(program, path, change)
    with pytest.raises(TpuError, match=message) as error:
        read_bmodel(path)
    assert str(error.value).startswith(f"{path}: ")


def test_more_zeros_than_weights(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "bad.bmodel"
    program.layers = [Layer("y", "tpu.Conv2D", 1.5)]
    write_bmodel(program, path)
    with pytest.raises(TpuError, match=r"damaged .*1\.5 is no part of the weights of 'y'"):
        read_bmodel(path)


def test_layers_are_optional(program: Program, tmp_path: Path) -> None:
    """Other compilers' files carry none."""
    path = tmp_path / "foreign.bmodel"
    with_table(program, path, lambda model: parameter_of(model).pop("tensor_loc"))
    back = read_bmodel(path)
    assert back.layers == []
    assert back.tiu_layers == [-1] * len(program.tiu)
    assert back.gdma_layers == [-1] * len(program.gdma)
    assert back.quantize == ""
