"""Hostile bmodel files: one error or a program, never anything else, and never much memory.

The suite tries 500 files; `make fuzz` sets XDSL_TPU_FUZZ to try as many as it says, with other
random numbers each time.
"""

import os
import struct
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.bm1684x import decode
from tests.bmodel.bmodel_samples import (
    WIDE_NUMBERS,
    Model,
    mutations,
    parameter_of,
    root_size,
    sample_file,
    with_root,
)
from tests.checks.check_samples import CHIP, sample
from tests.fuzz.limits import limited

from xdsl_tpu.backend.bmodel import read_bmodel
from xdsl_tpu.backend.bmodel.container import HEADER_BYTES
from xdsl_tpu.backend.bmodel.flatbuffer import read_root, write_root
from xdsl_tpu.backend.checks import check_program
from xdsl_tpu.backend.execute import check_fits
from xdsl_tpu.backend.isa import Command, Engine, encode
from xdsl_tpu.backend.program import Program
from xdsl_tpu.dialects.errors import TpuError

FILES = int(os.environ.get("XDSL_TPU_FUZZ", "0"))
SETTINGS = settings(
    max_examples=FILES or 500,
    derandomize=not FILES,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
FEW = settings(SETTINGS, max_examples=max(100, FILES // 10))
MOST_MEMORY = 32 << 20

with tempfile.TemporaryDirectory() as _folder:
    SAMPLE = sample_file(Path(_folder))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "x.bmodel"


def load(path: Path, data: bytes) -> Program | None:
    """The program, or None when the file is refused; anything else fails the test."""
    path.write_bytes(data)
    tracemalloc.start()
    try:
        program = read_bmodel(path)
        message = f"{path}: "
    except TpuError as error:
        program, message = None, str(error)
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < MOST_MEMORY
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return program


@SETTINGS
@given(data=mutations(SAMPLE))
def test_damaged_files(path: Path, data: bytes) -> None:
    with limited():
        load(path, data)


VALUES: dict[str, Callable[[Model, int], None]] = {
    "commands": lambda m, v: parameter_of(m)["cmd_group"][0].update(bdc_num=v & 0xFFFFFFFF),
    "queue start": lambda m, v: parameter_of(m)["cmd_group"][0]["binary_bdc"].update(start=v),
    "queue size": lambda m, v: parameter_of(m)["cmd_group"][0]["binary_gdma"].update(size=v),
    "coefficients start": lambda m, v: parameter_of(m)["coeff_mem"]["binary_coeff"].update(start=v),
    "coefficients size": lambda m, v: parameter_of(m)["coeff_mem"]["binary_coeff"].update(size=v),
    "coefficients address": lambda m, v: parameter_of(m)["coeff_mem"].update(address=v),
    "arena": lambda m, v: parameter_of(m).update(ctx_addr=v),
    "arena size": lambda m, v: parameter_of(m).update(ctx_size=v),
    "tensor address": lambda m, v: parameter_of(m)["input_tensor"][0].update(device_addr=v),
    "tensor size": lambda m, v: parameter_of(m)["input_tensor"][0].update(size=v),
    "tensor shape": lambda m, v: parameter_of(m)["output_tensor"][0].update(shape=[{"dim": [v]}]),
    "layers size": lambda m, v: parameter_of(m)["tensor_loc"].update(size=v),
}


@pytest.mark.parametrize("value", WIDE_NUMBERS)
@pytest.mark.parametrize("name", VALUES)
def test_extreme_numbers(name: str, value: int, path: Path) -> None:
    """Whatever a field says, sizes that do not fit are refused before anything is made of them."""
    program = load(path, with_root(SAMPLE, lambda model: VALUES[name](model, value)))
    if program is not None:
        check_without_crash(program)


def check_without_crash(program: Program) -> None:
    """What a user does next; both know the chip's limits."""
    try:
        check_fits(program, CHIP)
    except TpuError:
        return
    check_program(program, CHIP)


def huge_tensor(model: Model) -> None:
    tensor = parameter_of(model)["input_tensor"][0]
    tensor.update(shape=[{"dim": [1 << 37]}], size=1 << 38)


def test_a_tensor_larger_than_the_chip_is_refused_before_inputs_are_made(path: Path) -> None:
    program = load(path, with_root(SAMPLE, huge_tensor))
    assert program is not None
    with pytest.raises(TpuError, match=r"tensor 'x' .274877906944 bytes .* is not within the"):
        check_fits(program, CHIP)


def test_offsets_that_wrap(path: Path) -> None:
    """A vector whose offset leads back to the table that holds it, by way of 2^32."""
    model = bytearray(write_root("Model", {"net": [{"name": "n"}]}))
    (root,) = struct.unpack_from("<I", model)
    vtable = root - struct.unpack_from("<i", model, root)[0]
    slot = root + struct.unpack_from("<H", model, vtable + 4 + 2 * 4)[0]
    struct.pack_into("<I", model, slot, (root - slot) & 0xFFFFFFFF)
    assert load(path, _file(bytes(model))) is None


def test_shared_tables_that_unfold(path: Path) -> None:
    """A vector of 4000 offsets to one table with a long name: 20 kB that would become 16 MB."""
    count = 4000
    net = write_root("Net", {"name": "x" * 4000})
    # Layout: root offset, vtable of a Model with `net` alone, the Model, the vector, one Net.
    vtable = struct.pack("<7H", 14, 8, 0, 0, 0, 0, 4)
    table_at = 4 + 16
    vector_at = table_at + 8
    net_at = vector_at + 4 + 4 * count
    net_root = net_at + struct.unpack_from("<I", net)[0]
    data = struct.pack("<I", table_at) + vtable + b"\0\0"
    data += struct.pack("<iI", table_at - 4, vector_at - table_at - 4)
    data += struct.pack("<I", count)
    entries = (net_root - (vector_at + 4 + 4 * i) for i in range(count))
    data += struct.pack(f"<{count}I", *entries) + net
    with pytest.raises(ValueError, match="unfold to several times their size"):
        read_root("Model", data)
    assert load(path, _file(data)) is None


def _file(root: bytes) -> bytes:
    head = struct.pack("<IIIQ", 0xFF55AAEE, HEADER_BYTES, len(root), 0)
    return head.ljust(HEADER_BYTES, b"\0") + root


def test_nested_layer_names(path: Path) -> None:
    """JSON too deep for its parser is no layer table."""
    deep = b"[" * 100_000
    magic, header, size, binary = struct.unpack_from("<IIIQ", SAMPLE)
    head = struct.pack("<IIIQ", magic, header, size, binary + len(deep)).ljust(header, b"\0")

    def point(model: Model) -> None:
        parameter_of(model)["tensor_loc"].update(start=binary, size=len(deep))

    program = load(path, with_root(head + SAMPLE[header:] + deep, point))
    assert program is not None
    assert program.layers == []


@FEW
@given(st.data())
def test_damaged_commands(data: st.DataObject) -> None:
    """Any bits in a command: the check names what is wrong with it and never fails itself."""
    program = sample()
    engine = data.draw(st.sampled_from(list(Engine)))
    queue = program.queue(engine)
    position = data.draw(st.integers(0, len(queue) - 1))
    raw = bytearray(encode(queue[position]))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    try:
        queue[position] = decode(bytes(raw), engine)
    except TpuError:
        return
    with limited():
        check_program(program, CHIP)


def without(*names: str) -> Callable[[Model], None]:
    """Drop slots of the stage."""

    def change(model: Model) -> None:
        for name in names:
            parameter_of(model).pop(name, None)

    return change


def only_in_subnet(model: Model) -> None:
    del parameter_of(model)["cmd_group"]


def no_checksum(model: Model) -> None:
    del parameter_of(model)["coeff_mem"]["check_code"]


def no_padding(model: Model) -> None:
    """Ranges that end with the last command."""
    group = parameter_of(model)["cmd_group"][0]
    for name, queue in (("bdc", sample().tiu), ("gdma", sample().gdma)):
        group[f"binary_{name}"]["size"] = sum(command.form.size for command in queue)


@pytest.mark.parametrize(
    "change",
    [
        without("tensor_loc", "net_profile", "ctx_sizes", "core_num"),
        without("sub_net"),
        only_in_subnet,
        no_checksum,
        no_padding,
    ],
)
def test_variants_of_other_writers(change: Callable[[Model], None], path: Path) -> None:
    """What the format allows to be left out is not missed."""
    program = load(path, with_root(SAMPLE, change))
    assert program is not None
    wanted = sample()
    for engine in Engine:
        assert [_values(c) for c in program.queue(engine)] == [
            _values(c) for c in wanted.queue(engine)
        ]
    assert bytes(program.coefficients) == bytes(wanted.coefficients)


def _values(command: Command) -> dict[str, int]:
    return {k: v for k, v in (command.form.fixed | dict(command.fields)).items() if v}


def test_no_weights(path: Path) -> None:
    program = load(path, with_root(SAMPLE, without("coeff_mem")))
    assert program is not None
    assert program.coefficients.size == 0


REFUSED: list[tuple[Callable[[Model], None], str]] = [
    (lambda m: parameter_of(m)["coeff_mem"].update(encrypt_mode=1), "encrypted"),
    (lambda m: parameter_of(m)["sub_net"].append({"id": 1}), "of one part"),
    (lambda m: parameter_of(m)["sub_net"][0].update(subnet_mode=1), "a static TPU program"),
    (lambda m: parameter_of(m)["cmd_group"].append({"bdc_num": 1}), "one command group"),
]


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_kinds_that_are_not_handled(
    change: Callable[[Model], None], message: str, path: Path
) -> None:
    path.write_bytes(with_root(SAMPLE, change))
    with pytest.raises(TpuError, match=message):
        read_bmodel(path)


def test_the_sample_is_read(path: Path) -> None:
    assert root_size(SAMPLE) > 0
    assert load(path, SAMPLE) is not None
