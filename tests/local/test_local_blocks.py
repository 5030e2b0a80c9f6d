"""Channels made blocks of pixels within a layer group, and back: values equal the interpreter's."""

import pytest
from tests.kernels.harness import Case
from tests.local.groups import run_grouped

from xdsl_tpu.passes.layer_group.values import Secs

CASES = [
    # channels of the image, its size, the block, images
    (16, (12, 20), (2, 2), 1),
    (64, (6, 8), (2, 2), 2),
    (3, (9, 25), (3, 3), 1),
    (40, (7, 13), (2, 3), 1),
    (70, (5, 16), (1, 2), 2),
]


def _case(
    kind: str,
    channels: int,
    size: tuple[int, int],
    block: tuple[int, int],
    images: int,
    crd: bool,
    inverse: bool,
    swapped: bool,
) -> Case:
    deep = (images, channels * block[0] * block[1], *size)
    wide = (images, channels, size[0] * block[0], size[1] * block[1])
    given, made = (wide, deep) if inverse else (deep, wide)
    case = Case(kind, 3)
    x = case.input("x", given)
    a = case.op("tpu.Relu", [x], {}, "a", given)
    attributes = {
        "block_h": f"{block[0]} : i64",
        "block_w": f"{block[1]} : i64",
        "is_CRD": str(crd).lower(),
        "is_inversed": str(inverse).lower(),
        "swap_cr": str(swapped).lower(),
    }
    b = case.op("tpu.Depth2Space", [a], attributes, "b", made)
    case.op("tpu.Relu", [b], {}, "y", made)
    return case


@pytest.mark.parametrize("secs", [Secs(), Secs(h=3), Secs(h=5)], ids=str)
@pytest.mark.parametrize("inverse", [False, True], ids=["to_space", "to_depth"])
@pytest.mark.parametrize("crd", [False, True], ids=["DCR", "CRD"])
@pytest.mark.parametrize(("channels", "size", "block", "images"), CASES)
def test_blocks(
    channels: int,
    size: tuple[int, int],
    block: tuple[int, int],
    images: int,
    crd: bool,
    inverse: bool,
    secs: Secs,
) -> None:
    """Also slices that begin within a block."""
    run_grouped(_case("f16", channels, size, block, images, crd, inverse, False), secs=secs)


@pytest.mark.parametrize("kind", ["f32", "bf16"])
@pytest.mark.parametrize("inverse", [False, True], ids=["to_space", "to_depth"])
def test_other_types_and_places_along_columns(kind: str, inverse: bool) -> None:
    run_grouped(_case(kind, 20, (6, 10), (2, 3), 2, False, inverse, True), secs=Secs(h=2))


@pytest.mark.parametrize("inverse", [False, True], ids=["to_space", "to_depth"])
def test_little_room(inverse: bool) -> None:
    """A few rows at a time, where not all find room."""
    case = _case("f16", 16, (64, 32), (2, 2), 1, False, inverse, False)
    run_grouped(case, scratch=lambda op: 4096)


def test_channels_that_stay_need_no_room() -> None:
    case = _case("f16", 64, (12, 20), (2, 2), 1, False, False, False)
    run_grouped(case, scratch=lambda op: 0)
