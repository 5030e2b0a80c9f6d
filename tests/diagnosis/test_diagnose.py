"""Infinities, NaNs, saturation and unwritten reads: the first command, and what is harmless."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.checks.check_samples import CHIP, TRACES, change, sample, traced
from tests.diagnosis.programs import SHAPE, Body, Tensors, diagnosed, filled, program
from tests.machine.golden_traces import load_trace, weights

from xdsl_tpu.backend.diagnosis import Diagnosis, Fault, Row, diagnose
from xdsl_tpu.backend.emitter import Arith, Compare, Emitter, Rounding
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.tensor import DType, LocalTensor
from xdsl_tpu.dialects.errors import TpuError

F16, F32, BF16, I8 = DType.F16, DType.F32, DType.BF16, DType.I8


def only(found: Diagnosis) -> Row:
    (row,) = found.found
    return row


def binary(kind: Arith, dtype: DType = F16) -> Body:
    """y = x0 `kind` x1, over its first operand."""

    def body(emitter: Emitter, local: Tensors) -> LocalTensor:
        with emitter.layer("bad", "tpu.Any"):
            emitter.arith(kind, local(0, dtype), local(0, dtype), local(1, dtype))
        return local(0, dtype)

    return body


def divided(emitter: Emitter, local: Tensors) -> LocalTensor:
    with emitter.layer("bad", "tpu.Div"):
        emitter.div(local(2, F32), local(0, F32), local(1, F32))
    return local(2, F32)


def rooted(emitter: Emitter, local: Tensors) -> LocalTensor:
    with emitter.layer("bad", "tpu.Rsqrt"):
        emitter.rsqrt(local(1, F32), local(0, F32))
    return local(1, F32)


def of_positive(emitter: Emitter, local: Tensors) -> LocalTensor:
    """As kernels of roots and logarithms do: NaN where the function has no value."""
    x, y = local(0, F32), local(1, F32)
    with emitter.layer("bad", "tpu.Active"):
        emitter.select(Compare.EQUAL, y, x, 0.0, -math.inf, math.nan)
        emitter.select(Compare.GREATER, y, x, 0.0, x, y)
    return y


def of_positive_then(emitter: Emitter, local: Tensors) -> LocalTensor:
    of_positive(emitter, local)
    emitter.select(Compare.GREATER, local(2, F32), local(0, F32), 0.0, local(1, F32), 1.0)
    return local(2, F32)


CASES = {
    "product": (binary(Arith.MUL), F16, (300.0, 300.0), Fault.OVERFLOW, "beyond 65,504"),
    "sum": (binary(Arith.ADD), F16, (60000.0, 60000.0), Fault.OVERFLOW, "where f16 ends"),
    "bf16": (binary(Arith.MUL, BF16), BF16, (1e30, 1e30), Fault.OVERFLOW, "where bf16 ends"),
    "f32": (binary(Arith.MUL, F32), F32, (1e30, 1e30), Fault.OVERFLOW, "where f32 ends"),
    "pole": (divided, F32, (1.0, 0.0), Fault.OVERFLOW, "division by zero"),
    "0/0": (divided, F32, (0.0, 0.0), Fault.INVALID, "0 / 0"),
    "root": (rooted, F32, (-1.0,), Fault.OVERFLOW, "root of a negative number"),
    "domain": (of_positive, F32, (-1.0,), Fault.INVALID, "no value there"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("numerics", ["fast", "exact"])
def test_first_bad_number(name: str, numerics: Any) -> None:
    """Its command, layer and operands, which the result has overwritten in some."""
    body, dtype, values, fault, text = CASES[name]
    found = diagnosed(program(body, len(values), dtype), values, numerics=numerics)
    row = only(found)
    assert (row.fault, row.place.layer, row.place.identity) == (fault, "bad", 1)
    assert text in row.explanation
    assert row.count == row.elements == np.prod(SHAPE)
    ranges = {one.operand: one for one in row.operands}
    for index, value in enumerate(values):
        one = ranges[f"opd{index}"]
        assert one.least == one.greatest == pytest.approx(value, rel=0.01)
        assert (one.nan, one.infinite) == (0, 0)
    assert row.outputs == ["y"]
    assert found.not_finite == {"y": np.prod(SHAPE)}
    assert found.harmless == []


def test_a_hidden_nan_and_a_pole_that_is_meant() -> None:
    """NaNs that a select leaves aside are listed, as what they are; the log of 0 is no fault."""
    found = diagnosed(program(of_positive_then, 1, F32), (-1.0,))
    (row,) = found.harmless
    assert (found.found, row.fault, row.place.layer) == ([], Fault.INVALID, "bad")
    found = diagnosed(program(of_positive, 1, F32), (0.0,))
    assert (found.found, found.harmless) == ([], [])


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    made = program(binary(Arith.MUL))
    found, outputs = diagnose(made, CHIP, filled(2.0, 3.0))
    assert (found.found, found.harmless, found.not_finite) == ([], [], {"y": 0})
    assert outputs["y"].tolist() == np.full(SHAPE, 6.0).tolist()


def chain(emitter: Emitter, local: Tensors) -> LocalTensor:
    """x0 * x1 = inf, inf - inf = NaN, max(NaN, x1): a number again, made of nothing."""
    with emitter.layer("large", "tpu.Mul"):
        emitter.arith(Arith.MUL, local(2, F16), local(0, F16), local(1, F16))
    with emitter.layer("difference", "tpu.Sub"):
        emitter.arith(Arith.SUB, local(3, F16), local(2, F16), local(2, F16))
    with emitter.layer("greatest", "tpu.Max"):
        emitter.arith(Arith.MAX, local(3, F16), local(3, F16), local(1, F16))
    with emitter.layer("bits", "tpu.Cast"):
        emitter.cast(local(2, I8), local(3, F16), Rounding.HALF_EVEN)
    return local(2, I8)


def test_cause_comes_first_and_reaches_integers() -> None:
    """The result is int8 and no float at all: it is spoilt all the same."""
    found = diagnosed(program(chain, out=I8), (300.0, 300.0), share=1.0)
    large, difference = found.found
    assert (large.place.layer, large.fault, large.causes) == ("large", Fault.OVERFLOW, [])
    assert (difference.place.layer, difference.fault) == ("difference", Fault.FROM_INFINITY)
    assert difference.causes == [large.step]
    assert difference.explanation == "inf - inf"
    assert found.spoilt == {"y": np.prod(SHAPE)}
    assert found.not_finite == {}


def clamped(emitter: Emitter, local: Tensors) -> LocalTensor:
    with emitter.layer("large", "tpu.Mul"):
        emitter.arith(Arith.MUL, local(2, F16), local(0, F16), local(0, F16))
    with emitter.layer("clamp", "tpu.Clip"):
        emitter.arith(Arith.MIN, local(2, F16), local(2, F16), local(1, F16))
    return local(2, F16)


def test_infinity_that_a_minimum_removes_is_harmless() -> None:
    found = diagnosed(program(clamped), (300.0, 6.0))
    assert found.found == []
    (row,) = found.harmless
    assert (row.place.layer, row.fault, row.outputs) == ("large", Fault.OVERFLOW, [])


def narrowed(emitter: Emitter, local: Tensors) -> LocalTensor:
    with emitter.layer("large", "tpu.Mul"):
        emitter.arith(Arith.MUL, local(1, F16), local(0, F16), local(0, F16))
    with emitter.layer("narrow", "tpu.Cast"):
        emitter.cast(local(2, I8), local(1, F16), Rounding.HALF_EVEN)
    return local(2, I8)


def test_overflow_that_becomes_an_integer_is_found() -> None:
    found = diagnosed(program(narrowed, 1, out=I8), (300.0,), share=1.0)
    assert only(found).place.layer == "large"
    assert found.spoilt == {"y": np.prod(SHAPE)}


def guarded(emitter: Emitter, local: Tensors) -> LocalTensor:
    """1 / x, and 0 where x is 0."""
    with emitter.layer("inverse", "tpu.Div"):
        emitter.div(local(1, F32), 1.0, local(0, F32))
        emitter.select(Compare.EQUAL, local(2, F32), local(0, F32), 0.0, 0.0, local(1, F32))
    return local(2, F32)


def test_pole_that_a_select_leaves_aside_is_harmless() -> None:
    found = diagnosed(program(guarded, 1, F32), (0.0,))
    assert found.found == []
    assert [row.explanation for row in found.harmless] == ["division by zero"]


def masked(emitter: Emitter, local: Tensors) -> LocalTensor:
    """max(x0 + mask, x1)."""
    with emitter.layer("masked", "tpu.Add"):
        emitter.arith(Arith.ADD, local(0, F16), local(0, F16), local(2, F16))
    with emitter.layer("greatest", "tpu.Max"):
        emitter.arith(Arith.MAX, local(0, F16), local(0, F16), local(1, F16))
    return local(0, F16)


def test_infinities_that_the_program_holds_are_meant() -> None:
    """Also where the sum overwrites them, so that only a second run sees whose they are."""
    mask = np.zeros(SHAPE, np.float16)
    mask[..., ::2] = -np.inf
    found = diagnosed(program(masked, weights=mask), (1.0, 2.0))
    assert (found.found, found.harmless) == ([], [])


def test_saturation_is_counted_per_layer() -> None:
    def body(emitter: Emitter, local: Tensors) -> LocalTensor:
        with emitter.layer("narrow", "tpu.Cast"):
            emitter.cast(local(1, I8), local(0, F16), Rounding.HALF_EVEN)
        return local(1, I8)

    made = program(body, 1, out=I8)
    values = np.linspace(-200, 200, int(np.prod(SHAPE)), dtype=np.float32).reshape(SHAPE)
    beyond = np.mean((values >= 126.5) | (values <= -127.5))
    found, _ = diagnose(made, CHIP, {"x0": values})
    row = only(found)
    assert (row.fault, row.place.layer, row.dtype) == (Fault.SATURATION, "narrow", "i8")
    assert row.share == pytest.approx(beyond)
    assert f"{beyond:.0%} of the layer's numbers" in row.explanation
    assert row.results[0].least == -128
    found, _ = diagnose(made, CHIP, {"x0": values}, share=float(beyond) + 0.01)
    assert found.found == []


def test_read_of_what_was_never_written() -> None:
    made = sample()
    change(made, Engine.TIU, 1, opd1_addr=0x3000)
    inputs = {"x": np.ones(made.inputs[0].shape, np.float32)}
    row = only(diagnose(made, CHIP, inputs)[0])
    assert (row.fault, row.place.identity, row.place.layer) == (Fault.UNWRITTEN, 1, "sum")
    assert row.explanation.startswith("opd1 reads ")
    assert "in 0x3000 to " in row.explanation
    assert diagnose(sample(), CHIP, inputs)[0].found == []


def test_queues_that_wait_for_each_other_are_an_error() -> None:
    made = sample()
    change(made, Engine.GDMA, 2, cmd_id_dep=1)
    change(made, Engine.TIU, 1, cmd_id_dep=2)
    with pytest.raises(TpuError, match="both queues wait for each other"):
        diagnose(made, CHIP, {"x": np.ones(made.inputs[0].shape, np.float32)})


KINDS = {"f16": F16, "si32": DType.I32}


def recorded(name: str, scale: float) -> Diagnosis:
    """A stream of the vendor's compiler on its recorded inputs, those that are not masks scaled."""
    trace = load_trace(TRACES / f"{name}.npz")
    made = traced(name)
    made.coefficients = weights(trace)
    types = {port["name"]: KINDS[port["dtype"]] for port in trace.meta["io"]}
    made.inputs = [replace(one, dtype=types[one.name]) for one in made.inputs]
    made.outputs = [replace(one, dtype=types[one.name]) for one in made.outputs]
    values: dict[str, Any] = {}
    for one in made.inputs:
        value = trace.data[f"in_{one.name}"].view(one.dtype.numpy).reshape(one.shape)
        if one.dtype.is_float and "mask" not in one.name:
            value = np.clip(value.astype(np.float32) * scale, -65504, 65504)
        values[one.name] = value
    return diagnose(made, CHIP, values)[0]


@pytest.mark.parametrize("name", ["fa_tiny_prefill", "fa_tiny_decode", "qwen2_tiny_w4f16_decode"])
def test_streams_of_another_compiler_with_masks_are_clean(name: str) -> None:
    found = recorded(name, 1.0)
    assert (found.found, found.unknown) == ([], 0)
    assert set(found.not_finite.values()) == {0}


def test_overflow_in_a_stream_of_another_compiler() -> None:
    """Hidden states near the end of F16: a residual sum overflows, the norm behind it makes NaN."""
    found = recorded("qwen2_tiny_w4f16_decode", 3e4)
    first, second = found.found
    assert (first.step, first.place.instruction, first.place.layer) == (210, "sAR.add", "")
    assert (first.fault, first.explanation) == (
        Fault.OVERFLOW,
        "beyond 65,504, where f16 ends",
    )
    assert max(one.absmax for one in first.operands) <= 65504
    assert (second.fault, second.causes) == (Fault.FROM_INFINITY, [210])
    assert found.not_finite["out0"] == 256
