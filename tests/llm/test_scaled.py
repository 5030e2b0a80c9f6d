"""Every family with every rotary scaling that it may have, against transformers.

`tests/data/llm/scaled.json` has, for each, the model of `models.json` that it is like, what
config.json says of the rotary embedding as transformers writes it today (`rope_parameters`), and
the same as it used to be written (`rope_scaling`); `with_transformers_scaled.py` makes it.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.llm.interpreted import logits
from tests.llm.tiny import DATA, IDS, models, write

from xdsl_tpu.frontend.llm import open_model
from xdsl_tpu.frontend.llm.reference import Reference

CASES: dict[str, dict[str, Any]] = json.loads((DATA / "scaled.json").read_text(encoding="utf-8"))
PLAIN_KEYS = ("rope_parameters", "rope_scaling", "original_max_position_embeddings")


def folder(path: Path, name: str, old: bool) -> Path:
    """A model's folder, its config.json in one of the spellings."""
    case = CASES[name]
    write(path, case["base"])
    config = {**models()[case["base"]]["config"]}
    for key in PLAIN_KEYS:
        config.pop(key, None)
    changed = dict(case["config"])
    if old:
        given = changed.pop("rope_parameters")
        full = given.get("full_attention", given)
        changed |= {"rope_scaling": case["scaling"], "rope_theta": full["rope_theta"]}
        if full is not given:
            changed["rope_local_base_freq"] = given["sliding_attention"]["rope_theta"]
        elif full.get("partial_rotary_factor", 1.0) != 1.0:
            changed["partial_rotary_factor"] = full["partial_rotary_factor"]
    (path / "config.json").write_text(json.dumps({**config, **changed}), encoding="utf-8")
    return path


@pytest.mark.parametrize("old", [False, True], ids=["today", "as_it_was"])
@pytest.mark.parametrize("name", sorted(CASES))
def test_the_reference_is_what_transformers_computes(tmp_path: Path, name: str, old: bool) -> None:
    reference = Reference(open_model(folder(tmp_path, name, old)))
    expected = np.load(DATA / "scaled.npz")[name]
    np.testing.assert_allclose(reference.logits(IDS)[-len(expected) :], expected, atol=3e-5)


def test_scalings_say_something() -> None:
    """No two that differ are the same beyond what the tolerance above lets pass."""
    found = np.load(DATA / "scaled.npz")
    for base in sorted({case["base"] for case in CASES.values()}):
        same = [name for name in CASES if CASES[name]["base"] == base]
        for at, one in enumerate(same):
            for two in same[at + 1 :]:
                assert np.abs(found[one] - found[two]).max() > 1e-3, (one, two)


@pytest.mark.parametrize("name", [name for name in sorted(CASES) if not name.endswith("_near")])
def test_the_nets_compute_what_the_reference_does(tmp_path: Path, name: str) -> None:
    model = open_model(folder(tmp_path, name, old=False))
    length = min(24, max(one.reach for one in model.config.rotary))
    ids = IDS[: length - 4]
    found = logits(model, ids, prompt=len(ids) - 2, length=length)
    expected = Reference(model).logits(ids, length)[-3:]
    np.testing.assert_allclose(found, expected, atol=3e-5)
