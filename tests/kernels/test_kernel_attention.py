"""Fused attention on the simulated machine against the interpreter."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests.kernels.harness import PIPELINE, Case, Shape, check, execute, run
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.layer_cost import run_alone
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.precision import ATTRIBUTE
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.pipeline import make_pass


@dataclass(frozen=True)
class Attention:
    """Sizes of an attention; `mask` is the shape of one that is an input."""

    rows: int = 64
    keys: int = 64
    depth: int = 64
    heads: int = 1
    kv_heads: int = 0
    width: int = 0
    batch: int = 1
    mask: Shape | None = None
    scale: float = 0.0
    ranges: tuple[int, ...] = ()
    head_major: tuple[int, ...] = (0, 0, 0, 0)
    mix_scores: bool = False
    mix_shares: bool = False
    mask_by_row: bool = False

    def case(self, kind: str = "f16") -> Case:
        case = Case(kind)
        kv_heads, width = self.kv_heads or self.heads, self.width or self.depth
        q = case.input("q", self._shape(0, self.rows, self.heads, self.depth))
        k = case.input("k", self._shape(1, self.keys, kv_heads, self.depth))
        v = case.input("v", self._shape(2, self.keys, kv_heads, width))
        mask = "none" if self.mask is None else case.input("mask", self.mask)
        out = self._shape(3, self.rows, self.heads, width)
        case.op("tpu.FAttention", [q, k, v, mask, "none"], self.attributes(kv_heads), "y", out)
        return case

    def attributes(self, kv_heads: int) -> dict[str, str]:
        numbers = {"batch": self.batch, "q_head": self.heads, "kv_head": kv_heads}
        numbers |= {"dim": self.depth, "mq": self.rows, "mk": self.keys}
        attributes = {name: f"{value} : i64" for name, value in numbers.items()}
        attributes["scale"] = f"{self.scale or self.depth**-0.5:.6e} : f64"
        if self.ranges:
            attributes["key_ranges"] = f"[{', '.join(map(str, self.ranges))}]"
        if self.mask_by_row:
            attributes["mask_by_row"] = "true"
        if any(self.head_major):
            attributes["head_major"] = f"[{', '.join(map(str, self.head_major))}]"
        for number, name in enumerate(("mix_scores", "mix_shares")):
            if getattr(self, name):
                mix = np.random.default_rng(number).standard_normal((self.heads + 1) * self.heads)
                numbers = ", ".join(f"{n:.6e} : f64" for n in mix / 2)
                attributes[name] = f"[{numbers}]"
        return attributes

    def _shape(self, which: int, rows: int, heads: int, columns: int) -> Shape:
        if self.head_major[which]:
            return self.batch, heads, rows, columns
        return self.batch, rows, heads, columns

    @property
    def products(self) -> float:
        """Cycles of the two products on a full array."""
        each = self.batch * self.heads * self.rows * self.keys
        return each * (self.depth + (self.width or self.depth)) / 8192


FORMS = {
    "one head": Attention(),
    "rows beside lane groups": Attention(70, 33, 40, heads=3),
    "neighbours in a lane": Attention(256, 100, 32, heads=2, kv_heads=1, batch=2),
    "neighbours in a lane, heads first": Attention(320, 100, 24, 2, head_major=(1, 1, 1, 1)),
    "neighbours in a lane, one mask": Attention(256, 100, 32, heads=2, mask=(2, 1, 100)),
    "rows that differ": Attention(256, 100, 32, heads=2, mask=(1, 1, 256, 100)),
    "few lanes": Attention(49, 49, 32, heads=4, batch=3),
    "grouped heads": Attention(130, 70, 24, heads=6, kv_heads=2, batch=2),
    "values of another size": Attention(66, 100, 16, heads=2, width=72),
    "one row": Attention(1, 130, 80, heads=4, kv_heads=1),
    "one row and a mask": Attention(1, 130, 32, 6, 2, batch=2, mask=(2, 1, 1, 130)),
    "heads of 10": Attention(64, 64, 10, heads=6),
    "heads of 160": Attention(20, 200, 160, heads=2),
    "heads first": Attention(70, 100, 40, 4, 2, batch=2, head_major=(1, 1, 1, 1)),
    "keys with heads first": Attention(70, 100, 32, heads=4, head_major=(0, 1, 0, 0)),
    "values with heads first": Attention(130, 70, 32, heads=4, head_major=(0, 0, 1, 1)),
    "heads are mixed": Attention(100, 100, 48, heads=4, mix_scores=True, mix_shares=True),
    "scores are mixed": Attention(49, 70, 24, heads=3, mask=(1, 1, 49, 70), mix_scores=True),
    "shares are mixed": Attention(49, 70, 24, heads=2, batch=2, mix_shares=True),
    "mask for all heads": Attention(70, 100, 32, heads=4, mask=(1, 1, 70, 100)),
    "mask of each head": Attention(70, 100, 32, heads=4, mask=(4, 70, 100)),
    "mask of each batch": Attention(20, 40, 32, heads=2, batch=3, mask=(3, 1, 20, 40)),
    "mask by rows": Attention(
        70, 100, 32, heads=4, batch=2, mask=(1, 70, 1, 100), mask_by_row=True
    ),
    "mask of keys": Attention(70, 100, 32, heads=4, batch=2, mask=(2, 1, 1, 100)),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_equals_the_interpreter(form: Attention) -> None:
    check(form.case())


@pytest.mark.parametrize("kind", ["f32", "bf16"])
@pytest.mark.parametrize(
    "name",
    [
        "rows beside lane groups",
        "grouped heads",
        "heads first",
        "neighbours in a lane",
        "mask of each head",
        "heads are mixed",
        "scores are mixed",
        "shares are mixed",
    ],
)
def test_other_types_equal_the_interpreter(kind: str, name: str) -> None:
    check(FORMS[name].case(kind))


def test_small_shares_of_bf16_have_its_range() -> None:
    """Shares of 1e-7 are below the powers of F16."""
    case = Attention(scale=1.0).case("bf16")
    for name in ("q", "k", "v"):
        case.inputs[name] = np.zeros_like(case.inputs[name])
    case.inputs["q"][..., 0] = 4
    case.inputs["k"][:, 1:, :, 0] = -4
    case.inputs["v"][:, 1:] = 1e6
    expected = 63 * np.exp(-16.0) * 1e6
    assert np.abs(run(case).simulated / expected - 1).max() <= 2**-7


def test_short_rows_come_in_long_runs() -> None:
    """Rows of 64 bytes that see the same: neighbours share a lane, and so a run of DDR."""
    plain = check(Attention(1024, 64, 32).case())
    masked = check(Attention(1024, 64, 32, mask=(1, 1, 1024, 64)).case())
    cycles = [
        simulate(one.program.tiu, one.program.gdma, load_chip()).busy[Engine.GDMA]
        for one in (plain, masked)
    ]
    assert cycles[0] < 0.6 * cycles[1]


def test_close_precision_has_scores_in_f32() -> None:
    """So that they are as exact as products of f16 numbers are."""
    case = Attention(128, 96, 64, heads=2, scale=1.0).case()
    errors: list[float] = []
    for precision in ("fast", "close"):
        module = case.module()
        module.attributes[ATTRIBUTE] = StringAttr(precision)
        (expected,) = run_module(module, case.inputs).values()
        for name in PIPELINE:
            make_pass(name).apply(make_context(), module)
        program = generate(module, weights_of(module), load_chip())
        got = execute(program, case, load_chip(), Engine.TIU)
        errors.append(float(np.abs(got.ravel() - np.asarray(expected).ravel()).mean()))
    assert errors[1] < 0.6 * errors[0]


SMALL = replace(load_chip(), local_bytes=16384)
"""A chip on which long rows do not fit."""


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize(
    "form",
    [
        Attention(70, 900, 32, heads=2),
        Attention(64, 1000, 40, heads=4, kv_heads=2, mask=(1, 1, 64, 1000)),
    ],
    ids=["plain", "mask and shared heads"],
)
def test_rows_that_do_not_fit_are_computed_in_blocks(form: Attention, kind: str) -> None:
    check(form.case(kind), SMALL)


def causal(form: Attention, value: float) -> Case:
    """With a mask that hides the keys behind each row's own."""
    case = replace(form, mask=(form.rows, form.keys)).case()
    mask = np.triu(np.full((form.rows, form.keys), value, np.float32), 1)
    case.inputs["mask"] = mask
    return case


@pytest.mark.parametrize("value", [-np.inf, -65504.0])
@pytest.mark.parametrize("chip", [load_chip(), SMALL], ids=["whole rows", "blocks"])
def test_hidden_keys_are_skipped(value: float, chip: Chip) -> None:
    form = Attention(320, 320, 64, heads=2)
    numbers: list[int] = []
    for end in (64, 128, 192, 256, 320):
        numbers += [0, end, end - 63, end]
    every = check(causal(form, value), chip)
    some = check(causal(replace(form, ranges=tuple(numbers)), value), chip)
    assert np.allclose(every.simulated, some.simulated, atol=2e-3)
    busy = [
        simulate(one.program.tiu, one.program.gdma, chip).busy[Engine.TIU] for one in (every, some)
    ]
    assert busy[1] < 0.8 * busy[0]


@pytest.mark.parametrize("value", [-np.inf, -65504.0])
def test_a_row_that_sees_nothing_is_the_mean_of_all_values(value: float) -> None:
    """As it is in f32 with the mask -3.4e38; minus infinity would be a NaN there."""
    case = causal(Attention(64, 96, 32), value)
    case.inputs["mask"][5] = value
    out = run(case)
    mean = case.inputs["v"].reshape(96, 32).mean(0)
    assert np.allclose(out.simulated.reshape(64, 32)[5], mean, atol=2e-3)
    rest = np.arange(64) != 5
    got, expected = (one.reshape(64, 32)[rest] for one in (out.simulated, out.expected))
    assert np.allclose(got, expected, atol=1e-2)


def test_large_scores_stay_finite() -> None:
    case = Attention(64, 96, 32, scale=20.0).case()
    out = run(case)
    assert np.isfinite(out.simulated).all()


@pytest.mark.parametrize(
    ("form", "most"),
    [
        (Attention(512, 512, 64, heads=12), 1.7),
        (Attention(512, 512, 128, heads=4, kv_heads=1), 1.45),
        (Attention(1024, 1024, 64, heads=4), 1.65),
    ],
    ids=["heads of 64", "heads of 128", "longer"],
)
def test_cycles_are_near_those_of_the_products(form: Attention, most: float) -> None:
    """Each of the products at the array's rate, the softmax between them in the same queue."""
    chip = load_chip()
    assert run_alone(op_of(form), chip).timeline.total <= most * form.products


def op_of(form: Attention) -> Operation:
    """The op in its lowered function."""
    return next(op for op in form.case().module().walk() if isinstance(op, tpu.FAttentionOp))
