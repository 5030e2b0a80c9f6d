"""Attention on slices against the interpreter."""

from dataclasses import replace

import numpy as np
import pytest
from tests.kernels.test_kernel_attention import Attention
from tests.local.groups import run_grouped

from xdsl_tpu.passes.layer_group.values import Secs

FORMS = {
    "one head": Attention(),
    "rows beside lane groups": Attention(70, 33, 40, heads=3),
    "several tiles of rows": Attention(300, 130, 24, heads=6, kv_heads=2),
    "few lanes": Attention(49, 49, 32, heads=4),
    "values of another size": Attention(66, 100, 16, heads=2, width=72),
    "one row": Attention(1, 130, 80, heads=4, kv_heads=1),
    "heads of 10": Attention(64, 64, 10, heads=6),
    "mask by rows": Attention(70, 33, 40, heads=3, mask=(1, 70, 1, 33), mask_by_row=True),
    "mask of several tiles": Attention(
        300, 300, 24, heads=6, kv_heads=2, mask=(1, 300, 1, 300), mask_by_row=True
    ),
    "mask of one row": Attention(70, 33, 40, heads=3, mask=(1, 1, 1, 33)),
    "mask of one row for several tiles": Attention(300, 300, 24, 6, 2, mask=(1, 1, 1, 300)),
    "mask of few keys": Attention(5, 100, 40, heads=3, mask=(1, 1, 1, 100)),
    "heads are mixed": Attention(100, 100, 48, heads=4, mix_scores=True, mix_shares=True),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_rows_over_the_lanes(form: Attention) -> None:
    run_grouped(form.case())


@pytest.mark.parametrize("kind", ["bf16", "f32"])
@pytest.mark.parametrize(
    "name",
    [
        "rows beside lane groups",
        "several tiles of rows",
        "heads are mixed",
        "mask by rows",
        "mask of one row",
    ],
)
def test_other_types(kind: str, name: str) -> None:
    run_grouped(FORMS[name].case(kind))


@pytest.mark.parametrize("secs", [Secs(), Secs(n=3)], ids=str)
@pytest.mark.parametrize("name", ["rows beside lane groups", "heads are mixed", "mask by rows"])
def test_images_together_and_one_by_one(secs: Secs, name: str) -> None:
    run_grouped(replace(FORMS[name], batch=3).case(), secs=secs)


@pytest.mark.parametrize("secs", [Secs(), Secs(n=3)], ids=str)
@pytest.mark.parametrize("images", [1, 3])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("rows", [1, 70])
def test_masks_of_each_image(rows: int, kind: str, images: int, secs: Secs) -> None:
    form = Attention(70, 33, 40, heads=3, batch=3, mask_by_row=rows > 1)
    run_grouped(replace(form, mask=(images, rows, 1, 33)).case(kind), secs=secs)


@pytest.mark.parametrize("few", [0, 65536])
def test_scratch_memory_is_its_own_or_what_is_free(few: int) -> None:
    run_grouped(FORMS["several tiles of rows"].case(), scratch=lambda op: few)


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
def test_hidden_keys_are_skipped(kind: str) -> None:
    form = Attention(130, 130, 24, heads=2, mask=(1, 130, 1, 130), mask_by_row=True)
    ranges = (0, 64, 1, 64, 0, 128, 65, 128, 0, 130, 129, 130)
    cycles: list[int] = []
    for some in (form, replace(form, ranges=ranges)):
        case = some.case(kind)
        mask = np.triu(np.full((130, 130), -30000, np.float32), 1)
        case.inputs["mask"] = mask.reshape(1, 130, 1, 130)
        cycles.append(run_grouped(case).cycles)
    assert cycles[1] < cycles[0]


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_a_mask_is_as_it_was_for_the_next(kind: str) -> None:
    form = Attention(70, 70, 40, heads=2, mask=(1, 70, 1, 70), mask_by_row=True)
    case = form.case(kind)
    operands = ["y", "k", "v", "mask", "none"]
    case.op("tpu.FAttention", operands, form.attributes(2), "z", (1, 70, 2, 40))
    run_grouped(case)
