"""Everything that can be recomputed about the groups in real final files is recomputed."""

import csv
import gzip
import io
import json
from typing import Any

import pytest
from tests.layer_group.group_samples import (
    CHIP,
    DATA,
    MODELS,
    RealGroup,
    real_network,
    slices_in,
)
from xdsl.ir import Operation

from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.layer_group.base_groups import base_groups, why_global
from xdsl_tpu.passes.layer_group.lmem_size import lane_bytes, value_bytes
from xdsl_tpu.passes.layer_group.search import range_problem
from xdsl_tpu.passes.layer_group.sections import max_sections
from xdsl_tpu.passes.layer_group.slicing import Slicing, slice_group
from xdsl_tpu.passes.layer_group.values import AXES, Ncdhw

COUNTS = dict(zip(MODELS, (2, 1, 2, 1, 34), strict=True))
"""How many groups each file has: to read the files only for that would take long."""


def test_all_groups_are_there() -> None:
    assert {model: len(real_network(model).groups) for model in MODELS} == COUNTS


every_group = pytest.mark.parametrize(
    ("model", "index"), [(model, index) for model in MODELS for index in range(COUNTS[model])]
)


@pytest.fixture
def group(model: str, index: int) -> RealGroup:
    """The group of a test for `every_group`."""
    return real_network(model).groups[index]


@every_group
def test_slices_alignment_and_bytes_follow_from_the_sections(group: RealGroup) -> None:
    slicing = slice_group(group.ops, group.kind, group.secs, CHIP)
    assert isinstance(slicing, Slicing), slicing
    for value, ginfo in group.slots:
        ours = slicing.of[value]
        for axis in AXES:
            assert ours.along(axis) == slices_in(ginfo, axis), (name_of(value), axis)
        assert ours.eu_align == bool(ginfo.eu_align), name_of(value)
        assert value_bytes(value, ours, CHIP) == ginfo.out_size.value.data, name_of(value)


@every_group
def test_loads_and_stores_are_what_crosses_the_border(group: RealGroup) -> None:
    slicing = slice_group(group.ops, group.kind, group.secs, CHIP)
    assert isinstance(slicing, Slicing), slicing
    assert set(slicing.loaded) == set(group.loaded)
    assert set(slicing.stored) == set(group.stored)
    assert set(slicing.of) == {value for value, _ in group.slots}


@every_group
def test_ranges_may_be_groups_here(group: RealGroup) -> None:
    assert range_problem(group.ops, CHIP.lanes) is None


@every_group
def test_sections_lie_within_bounds(group: RealGroup) -> None:
    most = max_sections(group.ops, group.kind, CHIP)
    for axis in AXES:
        assert getattr(group.secs, axis) <= getattr(most, axis), axis


@pytest.mark.parametrize("model", MODELS)
def test_ops_in_groups_have_a_local_form(model: str) -> None:
    for group in real_network(model).groups:
        assert {op.name: why_global(op) for op in group.ops if why_global(op)} == {}


def why_global_or_permute(op: Operation) -> str | None:
    """As `why_global`, and no Permute is local."""
    return "a Permute" if op.name == "tpu.Permute" else why_global(op)


@pytest.mark.parametrize("model", MODELS)
def test_base_groups_are_the_recorded_ones(model: str) -> None:
    """By index, and every group at its place in its base group.

    The vendor has no local Permute; ours joins what stands before and behind it.
    """
    cache, ops = read_cache(model), real_network(model).ops
    place = {
        name_of(op): (index, inner)
        for index, base in enumerate(base_groups(ops, why_global_or_permute))
        for inner, op in enumerate(base.ops)
    }
    for group in cache["GroupLayer"]:
        inside = range(group["start_idx"], group["end_idx"] + 1)
        expected = [(group["base_group_idx"], inner) for inner in inside]
        assert [place[name] for name in group["locs"]] == expected
    for layer in cache["GlobalLayer"]:
        if layer["loc"] != "func.return":
            assert name_of(ops[int(layer["func_idx"])]) == layer["loc"]


def read_cache(model: str) -> dict[str, Any]:
    stem = model.removesuffix("_sym")
    path = DATA / "layer_group" / f"{stem}.layer_group_cache.json.gz"
    return json.loads(gzip.decompress(path.read_bytes()))["subfunc_0"]


BITS = {"f32": 32, "f16": 16, "i8": 8, "u8": 8, "i16": 16, "i32": 32}


def test_bytes_of_every_observed_value() -> None:
    """717 ops of seven networks, three types and three number formats."""
    path = DATA / "layer_group" / "observed_lmem_sizes.csv.gz"
    rows = list(csv.DictReader(io.StringIO(gzip.decompress(path.read_bytes()).decode())))
    assert len(rows) == 717
    for row in rows:
        for operand in ("in0", "out"):
            part = Ncdhw(*map(int, row[f"{operand}_slice_ncdhw"].split("x")))
            size = lane_bytes(part, BITS[row[f"{operand}_dtype"]], True, CHIP)
            assert size == int(row[f"{operand}_bytes"]), row
