"""From sample inputs to the tables of an INT8 network that is as close to the float one as wanted.

Cheapest first: the largest magnitudes as thresholds; thresholds that clip; corrected biases;
and what is then still missing, layers in wider formats.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.calibration.methods import METHODS
from xdsl_tpu.passes.calibration.table import (
    CalibrationTable,
    parse_table,
    with_bias_corrections,
)
from xdsl_tpu.tools.mixing.bias import measure_corrections
from xdsl_tpu.tools.mixing.layers import Layers
from xdsl_tpu.tools.mixing.mixture import find_faster, find_mixture
from xdsl_tpu.tools.mixing.network import Modes, Network, table_digest

AUTO = "auto"
MARGIN = 0.25
"""Part of the allowed error that is left to inputs other than the samples."""

MOST_CORRECTED = 4
"""Samples that mean errors are taken over: all of them are in memory at once."""

Tables = Callable[[str, float], CalibrationTable]
"""The table of a method and, for method percentile, its percentile; observes what it needs."""


@dataclass(frozen=True)
class Wanted:
    """What to do: a method of thresholds or `auto`, the percentile of the method of that name,
    whether to correct biases (None: where it helps), and the cosine to reach with wider formats."""

    method: str = AUTO
    percentile: float = 99.99
    bias_correction: bool | None = None
    target: float | None = None

    @property
    def goal(self) -> float:
        """The cosine to reach on the samples."""
        return 1.0 if self.target is None else 1 - (1 - self.target) * (1 - MARGIN)


@dataclass(frozen=True)
class Quantised:
    """A table, what it was made by, its cosine on the samples before and after mixing formats."""

    table: CalibrationTable
    method: str
    corrected: bool
    cosine: float
    modes: Modes = field(default_factory=dict[str, str])
    mixed_cosine: float | None = None

    @property
    def reached(self) -> float:
        """The cosine with all that was done."""
        return self.cosine if self.mixed_cosine is None else self.mixed_cosine


def quantise(
    network: Network,
    tables: Tables,
    wanted: Wanted,
    on_step: Callable[[str], None] = lambda text: None,
) -> Quantised:
    """The tables for a network; stops as soon as the goal is met.

    Raises TpuError when it cannot be met with all layers in F32.
    """
    best = _thresholds(network, tables, wanted, on_step)
    if wanted.bias_correction is None and best.cosine < wanted.goal:
        on_step("correcting biases")
        corrected = _corrected(network, best)
        # Means taken where outputs are far off say little about the network with wider formats.
        enough = wanted.target is None or corrected.cosine >= wanted.goal
        if enough and corrected.cosine > best.cosine:
            best = corrected
    if wanted.target is not None and best.cosine < wanted.goal:
        on_step("looking for layers to keep in wider formats")
        mixture = find_mixture(network, best.table, wanted.goal)
        best = replace(best, modes=mixture.modes, mixed_cosine=mixture.cosine)
    elif wanted.target is not None:
        on_step("looking for layers that are slower in 8 bits")
        faster = find_faster(network, best.table, best.cosine, wanted.goal)
        if faster.modes:
            best = replace(best, modes=faster.modes, mixed_cosine=faster.cosine)
    if wanted.bias_correction:
        on_step("correcting biases")
        best = _corrected(network, best)
    return best


def _thresholds(
    network: Network, tables: Tables, wanted: Wanted, on_step: Callable[[str], None]
) -> Quantised:
    """The table of a method; of `auto` the best of all, or max where that is good enough."""
    methods = ("max", *METHODS) if wanted.method == AUTO else (wanted.method,)
    best: Quantised | None = None
    for method in methods:
        on_step(f"thresholds by method {method}")
        depends = [method, wanted.percentile]
        table = _kept(network, "thresholds", depends, partial(tables, method, wanted.percentile))
        found = Quantised(table, method, False, network.cosine(table, {}))
        if best is None or found.cosine > best.cosine:
            best = found
        if best.cosine >= wanted.goal:
            break
    assert best is not None
    return best


def _corrected(network: Network, found: Quantised) -> Quantised:
    """The same with the biases of the layers corrected that are in 8 bits."""
    samples = network.digests[:MOST_CORRECTED]
    depends = [table_digest(found.table), dict(found.modes), samples]
    table = _kept(network, "corrected biases", depends, partial(_with_corrections, network, found))
    cosine = network.cosine(table, found.modes)
    if found.mixed_cosine is None:
        return replace(found, table=table, corrected=True, cosine=cosine)
    return replace(found, table=table, corrected=True, mixed_cosine=cosine)


def _with_corrections(network: Network, found: Quantised) -> CalibrationTable:
    layers = Layers.of(network, found.table)
    networks = [layers.rounded.on(inputs) for inputs in network.samples[:MOST_CORRECTED]]
    eight = {op: "INT8" for op in layers.in_8_bits if name_of(op.results[0]) not in found.modes}
    return with_bias_corrections(found.table, measure_corrections(networks, eight))


def _kept(
    network: Network, what: str, depends: Sequence[Any], make: Callable[[], CalibrationTable]
) -> CalibrationTable:
    """A table as a file of it would be read, by way of the network's journal."""
    return parse_table(network.measured(what, depends, lambda: make().text()), what)
