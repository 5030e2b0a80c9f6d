"""Attention on slices against the interpreter."""

from dataclasses import replace

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
    "heads are mixed": Attention(100, 100, 48, heads=4, mix_scores=True, mix_shares=True),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_rows_over_the_lanes(form: Attention) -> None:
    run_grouped(form.case())


@pytest.mark.parametrize("kind", ["bf16", "f32"])
@pytest.mark.parametrize(
    "name", ["rows beside lane groups", "several tiles of rows", "heads are mixed"]
)
def test_other_types(kind: str, name: str) -> None:
    run_grouped(FORMS[name].case(kind))


@pytest.mark.parametrize("secs", [Secs(), Secs(n=3)], ids=str)
@pytest.mark.parametrize("name", ["rows beside lane groups", "heads are mixed"])
def test_images_together_and_one_by_one(secs: Secs, name: str) -> None:
    run_grouped(replace(FORMS[name], batch=3).case(), secs=secs)


@pytest.mark.parametrize("few", [0, 65536])
def test_scratch_memory_is_its_own_or_what_is_free(few: int) -> None:
    run_grouped(FORMS["several tiles of rows"].case(), scratch=lambda op: few)
