"""Convolutions on the simulated machine against the interpreter."""

from dataclasses import dataclass, replace

import pytest
from tests.kernels.harness import Case, Outcome, check, run

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.dialects.errors import TpuError


@dataclass(frozen=True)
class Conv:
    """A convolution; `pads` are top, left, bottom, right."""

    x: tuple[int, int, int, int]
    oc: int
    kernel: tuple[int, int] = (3, 3)
    strides: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (1, 1, 1, 1)
    dilations: tuple[int, int] = (1, 1)
    group: int = 1
    bias: bool = True
    relu: float | None = None

    @property
    def out(self) -> tuple[int, int, int, int]:
        n, _, h, w = self.x
        sizes: list[int] = []
        for i, size in enumerate((h, w)):
            window = (self.kernel[i] - 1) * self.dilations[i] + 1
            padded = size + self.pads[i] + self.pads[2 + i]
            sizes.append((padded - window) // self.strides[i] + 1)
        return n, self.oc, sizes[0], sizes[1]

    def case(self, kind: str) -> Case:
        case = Case(kind)
        ic = self.x[1] // self.group
        depth = ic * self.kernel[0] * self.kernel[1]
        x = case.input("x", self.x)
        w = case.weight("w", (self.oc, ic, *self.kernel), depth**-0.5)
        b = case.weight("b", (self.oc,), kind="f32") if self.bias else "none"
        case.op("tpu.Conv2D", [x, w, b], self.attributes(), "y", self.out)
        return case

    def attributes(self) -> dict[str, str]:
        return {
            "kernel_shape": str(list(self.kernel)),
            "strides": str(list(self.strides)),
            "pads": str(list(self.pads)),
            "dilations": str(list(self.dilations)),
            "group": f"{self.group} : i64",
            "do_relu": str(self.relu is not None).lower(),
            "relu_limit": f"{self.relu if self.relu is not None else -1.0:.6e} : f64",
            "with_bias": str(self.bias).lower(),
        }


def outcome(conv: Conv, kind: str) -> Outcome:
    return check(conv.case(kind))


ORDINARY = {
    "small": Conv((1, 3, 9, 10), 5, pads=(0, 0, 0, 0)),
    "pointwise": Conv((1, 96, 14, 14), 200, kernel=(1, 1), pads=(0, 0, 0, 0)),
    "several images": Conv((3, 40, 7, 7), 70, bias=False),
    "stride and asymmetric pads": Conv(
        (1, 70, 19, 17), 33, kernel=(3, 5), strides=(2, 3), pads=(0, 2, 1, 3), relu=-1.0
    ),
    "dilated": Conv((1, 40, 16, 15), 64, dilations=(2, 3), pads=(2, 3, 2, 3), relu=6.0),
    "row tiles": Conv((1, 16, 130, 128), 16, relu=0.5),
    "held input": Conv((1, 256, 7, 7), 512),
    "grouped": Conv((2, 24, 9, 9), 36, group=3, strides=(2, 2), relu=-1.0),
}


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("conv", ORDINARY.values(), ids=ORDINARY)
def test_ordinary_convolution(conv: Conv, kind: str) -> None:
    outcome(conv, kind)


MERGED = {
    # Few channels: filter rows (1), columns (2) or both (3) become channels in 16 bits.
    "patch embedding, rows": (1, Conv((1, 3, 32, 28), 96, (4, 4), (4, 4), (0, 0, 0, 0))),
    "residual stem, rows": (1, Conv((1, 3, 41, 44), 64, (7, 7), (2, 2), (3, 3, 3, 3), relu=-1)),
    "wide kernel, columns": (2, Conv((1, 3, 20, 30), 20, (2, 7), (1, 2), (1, 2, 0, 3))),
    "mobile stem, both": (3, Conv((2, 3, 33, 34), 32, (3, 3), (2, 2), (1, 1, 1, 1), relu=6.0)),
}


@pytest.mark.parametrize(("mode", "conv"), MERGED.values(), ids=MERGED)
def test_kernel_dimensions_merged_into_channels(mode: int, conv: Conv) -> None:
    case = conv.case("f16")
    case.options["weight-reorder"] = "merge_columns=true"
    result = check(case)
    (command,) = {(c["opd1_h"], c["opd1_w"]) for c in result.program.tiu if "CONV" in c.form.name}
    merged = (1 if mode & 1 else conv.kernel[0], 1 if mode & 2 else conv.kernel[1])
    assert command == merged


def test_rows_alone_are_merged_by_the_rule() -> None:
    """A merged column would load the image once more."""
    case = MERGED["mobile stem, both"][1].case("f16")
    case.options["weight-reorder"] = "measure=false"
    result = check(case)
    assert {(c["opd1_h"], c["opd1_w"]) for c in result.program.tiu if "CONV" in c.form.name} == {
        (1, 3)
    }


DEPTHWISE = {
    "one group": Conv((1, 32, 12, 13), 32, group=32, relu=6.0),
    "many channels, stride 2": Conv((2, 200, 15, 15), 200, group=200, strides=(2, 2)),
    "no bias, dilated": Conv(
        (1, 70, 14, 20), 70, group=70, dilations=(2, 2), pads=(2, 2, 2, 2), bias=False, relu=-1.0
    ),
    "row tiles": Conv((1, 64, 150, 150), 64, kernel=(5, 5), pads=(2, 2, 2, 2), group=64),
}


@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.parametrize("conv", DEPTHWISE.values(), ids=DEPTHWISE)
def test_depthwise_convolution(conv: Conv, kind: str) -> None:
    outcome(conv, kind)


SMALL = replace(load_chip(), local_bytes=4096)
"""So little memory that columns must be split."""

FEWER_LANES = replace(load_chip(), lanes=32, local_bytes=32768)


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_little_local_memory(kind: str) -> None:
    check(Conv((1, 16, 20, 220), 70, relu=6.0).case(kind), SMALL)


@pytest.mark.parametrize("channels", [1024, 960])
def test_half_of_the_channels_of_a_filter_at_a_time(channels: int) -> None:
    """A filter whose row is wider than a command names lies in several rows, some channels in
    each; two of them do not fit in a lane side by side."""
    conv = Conv((1, channels, 66, 1), 70, kernel=(64, 1), pads=(0, 0, 0, 0), relu=-1.0)
    assert outcome(conv, "f16").program.tiu


def test_a_filter_that_no_lane_holds_is_refused() -> None:
    """Networks have it in halves (`LargeFilter`)."""
    with pytest.raises(TpuError, match=r"tpu\.Conv2D 'y': local memory is too small"):
        run(Conv((2, 200, 9, 9), 130).case("f32"), SMALL)


@pytest.mark.parametrize(
    "conv", [ORDINARY["held input"], DEPTHWISE["many channels, stride 2"], ORDINARY["grouped"]]
)
def test_a_chip_with_fewer_lanes(conv: Conv) -> None:
    check(conv.case("f16"), FEWER_LANES)


@pytest.mark.parametrize(
    ("conv", "floor", "most"),
    [
        # floor: operand bytes at 58, result bytes at 44 per cycle: docs/hardware/cycles.md
        (Conv((1, 64, 56, 56), 256, (1, 1), pads=(0, 0, 0, 0)), 43983, 1.1),
        (Conv((1, 512, 7, 7), 512), 83504, 1.06),
        # of the image's bytes alone
        (Conv((1, 144, 56, 56), 144, group=144, relu=6.0), 36098, 1.05),
    ],
    ids=["wide planes", "large filter", "depthwise"],
)
def test_layers_stay_near_the_cost_of_their_bytes(conv: Conv, floor: int, most: float) -> None:
    assert floor <= run(conv.case("f16")).cycles <= most * floor


@pytest.mark.parametrize(
    ("conv", "message"),
    [
        (Conv((1, 32, 64, 64), 8, (16, 16), (16, 16), (1, 1, 0, 0)), "stride 16 is beyond the 15"),
        (Conv((1, 8, 64, 64), 8, (40, 3), pads=(16, 0, 16, 0)), "padding 16 is beyond the 15"),
        (Conv((1, 8, 64, 64), 8, group=8, strides=(17, 1), pads=(0, 0, 0, 0)), "stride 17"),
    ],
)
def test_what_no_command_can_say_is_refused(conv: Conv, message: str) -> None:
    with pytest.raises(TpuError, match=rf"tpu\.Conv2D 'y': {message}"):
        run(conv.case("f32"))
