"""Encoding and decoding are inverse, for any values and for recorded commands."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bm1684x import FORMS, decode, decode_stream

from xdsl_tpu.backend.isa import Command, EncodingError, Engine, Form, encode

GOLDEN = Path(__file__).parents[1] / "data" / "golden"
USABLE = [form for form in FORMS.values() if form.opcode is not None]


@st.composite
def commands(draw: st.DrawFn, forms: list[Form] = USABLE) -> Command:
    """A command of any form with some of its fields set to any value that fits."""
    form = draw(st.sampled_from(forms))
    free = [f for f in form.fields if f.name not in {*form.fixed, form.function_field}]
    chosen = draw(st.lists(st.sampled_from(free), unique_by=lambda f: f.name, max_size=12))
    fields = {field.name: draw(st.integers(0, field.mask)) for field in chosen}
    if form.functions:
        fields[form.function_field] = draw(st.sampled_from(sorted(form.functions)))
    return Command(form, fields)


def set_fields(command: Command) -> dict[str, int]:
    """The fields that are not zero, those of the form's own included."""
    fields = dict(command.fields) | command.form.fixed
    return {name: value for name, value in fields.items() if value}


@settings(max_examples=500, deadline=None)
@given(commands())
def test_decode_inverts_encode(command: Command) -> None:
    data = encode(command)
    assert len(data) == command.form.size
    back = decode(data, command.engine)
    assert back.form is command.form
    assert dict(back.fields) == set_fields(command)
    assert back.function_name == command.function_name


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=20) | st.binary(min_size=128, max_size=140), st.sampled_from(Engine))
def test_encode_inverts_decode_on_any_bytes(data: bytes, engine: Engine) -> None:
    """Bytes are either refused or come back as they were."""
    try:
        command = decode(data, engine)
    except EncodingError:
        return
    assert encode(command) == data[: command.form.size]


@settings(max_examples=50, deadline=None)
@given(st.data(), st.sampled_from(Engine))
def test_a_queue_comes_back_in_order(data: st.DataObject, engine: Engine) -> None:
    forms = [form for form in USABLE if form.engine is engine]
    queue = data.draw(st.lists(commands(forms), max_size=6))
    packed = b"".join(map(encode, queue)) + bytes(16)
    back = list(decode_stream(packed, engine, len(queue)))
    assert [c.form for c in back] == [c.form for c in queue]
    assert [dict(c.fields) for c in back] == [set_fields(c) for c in queue]


@pytest.mark.parametrize("form", USABLE, ids=lambda form: form.name)
def test_every_field_has_its_own_bits(form: Form) -> None:
    """Setting one field to its largest value changes exactly its bits."""
    function = {form.function_field: next(iter(form.functions), 0)} if form.functions else {}
    base = int.from_bytes(encode(Command(form, function)), "little")
    covered = 0
    for field in form.fields:
        mask = field.mask << field.offset
        assert not covered & mask, field.name
        covered |= mask
        if field.name in {*form.fixed, form.function_field}:
            continue  # these make it another form's command
        word = int.from_bytes(encode(Command(form, function | {field.name: field.mask})), "little")
        assert word | mask == base | mask
        assert word & mask == mask
    assert covered == (1 << form.bits) - 1


@pytest.mark.parametrize("form", USABLE, ids=lambda form: form.name)
def test_values_that_do_not_fit_are_refused(form: Form) -> None:
    field = max(form.fields, key=lambda f: f.width)
    for value in (-1, field.mask + 1):
        with pytest.raises(EncodingError, match=rf"{form.name} .*{field.name} = {value} does not"):
            encode(Command(form, {field.name: value}))
    with pytest.raises(EncodingError, match=f"{form.name} has no field 'colour'"):
        encode(Command(form, {"colour": 1}))


@pytest.mark.parametrize("form", [f for f in FORMS.values() if f.opcode is None], ids=str)
def test_forms_without_a_known_opcode_are_refused(form: Form) -> None:
    with pytest.raises(EncodingError, match=f"opcode of {form.name} is not known"):
        encode(Command(form, {}))


@pytest.mark.parametrize("form", USABLE, ids=lambda form: form.name)
def test_cut_off_commands_are_refused(form: Form) -> None:
    function = {form.function_field: next(iter(form.functions), 0)} if form.functions else {}
    data = encode(Command(form, function))
    for size in (0, 15, form.size - 1):
        with pytest.raises(EncodingError, match="left"):
            decode(data[:size], form.engine)


def test_recorded_commands_come_back_bit_by_bit() -> None:
    entries: list[dict[str, Any]] = json.loads((GOLDEN / "unit" / "index.json").read_text())
    assert len(entries) > 300
    for entry in entries:
        raw = bytes.fromhex(entry["raw"])
        command = decode(raw, Engine(entry["engine"]))
        assert command.form.name == entry["form"].replace("&s", "_")  # sRQ&sDQ
        assert encode(command) == raw, entry["id"]


@pytest.mark.parametrize("path", sorted((GOLDEN / "traces").glob("*.npz")), ids=lambda p: p.stem)
def test_recorded_streams_come_back_bit_by_bit(path: Path) -> None:
    with np.load(path) as trace:
        raw = memoryview(trace["raw"].tobytes())
        engines: list[int] = trace["engine"].tolist()
    position = 0
    for is_gdma in engines:
        command = decode(raw[position:], Engine.GDMA if is_gdma else Engine.TIU)
        size = command.form.size
        assert encode(command) == raw[position : position + size]
        position += size
    assert position == len(raw)
