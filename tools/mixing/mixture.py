"""The formats of a network's layers that bring its INT8 program close to the float one.

What rounding to 8 bits does to the outputs is measured run by run of layers on the float network
(`rounding`, `search`). Those that cost the outputs most for the cycles that they save
are computed in 16 bits, and checked on the lowered network, in integers; the limit is then moved
until the target is met by little. Where 16 bits are too few themselves, F32 is chosen
in the same way. No layer in 8 bits at all is the other choice: then all the noise may be that of
16 bits, and fewer layers need F32. A third one is the first without layers in 8 bits that casts
around them cost more than they save (`islands`). The fastest of the compiled programs is taken.
"""

from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.calibration.table import CalibrationTable
from xdsl_tpu.tools.mixing.islands import islands
from xdsl_tpu.tools.mixing.layers import Layers, formats_of
from xdsl_tpu.tools.mixing.network import Network
from xdsl_tpu.tools.mixing.search import Block, choose, measure

EVALUATIONS = 48
"""Runs of the float network that are spent on finding where noise comes from."""

FLOAT_SHARE = 0.25
"""Part of the noise that 16 bits may make; the rest is for 8 bits."""

SHOWN = 8
"""Names in a message."""

LOOSEST, TIGHTER, TIGHTEST = 4.0, 0.6, 1 / 32
"""How far the limit of the noise is moved when it turns out too low or too high, and the step."""

NEARER = 4
"""Choices of layers that are measured between a limit that held and one that did not."""

CLOSE = 1.02
"""Limits of so little difference are one."""


WIDER = (1.0, 0.3, 0.1, 0.03, 0.01)
"""How far the limit of the noise of 16 bits is lowered while it alone is too much."""

ALONE = (3.0, 2.0, 1.4, 1.0, 0.7, 0.45)
"""Parts of the allowed noise that 16 bits may make where nothing is in 8 bits, tried in order. What
is foretold is too much where errors of several layers cancel."""


@dataclass(frozen=True)
class Mixture:
    """Formats by layer, and the cosine of the lowered network with them."""

    modes: Mapping[str, str]
    cosine: float


def find_mixture(network: Network, table: CalibrationTable, goal: float) -> Mixture:
    """Formats with which the lowest cosine of any output on any sample is at least `goal`.

    Raises TpuError when even F32 does not reach it.
    """
    layers = Layers.of(network, table)
    limit = 2 * (1 - goal)
    narrow = layers.in_float()
    wide = _Wide(layers, narrow, FLOAT_SHARE * limit)
    eight = dict.fromkeys(layers.in_8_bits, "INT8")
    blocks = measure(layers.in_8_bits, layers.noise_in(eight), limit, EVALUATIONS)
    for tightness in WIDER:
        floats = wide.floats(tightness)
        found = fewest_in_float(network, table, layers, floats, blocks, goal)
        if found is not None:
            joined = _joined(network, table, layers, floats, found, goal)
            alone = _alone(network, table, layers, wide, goal)
            return _fastest(network, table, [found, joined, alone])
        if not wide.can_grow:
            break
    return _in_f32(network, table, layers, goal)


def find_faster(network: Network, table: CalibrationTable, cosine: float, goal: float) -> Mixture:
    """The fastest formats of a network that is good enough with what can be in 8 bits in 8 bits.

    `cosine` is what it reaches so. Layers whose casts cost more than they save, or all of them, may
    be faster in 16 bits, which the goal must allow, too.
    """
    layers = Layers.of(network, table)
    narrow, plain = layers.in_float(), Mixture({}, cosine)
    wide = _Wide(layers, narrow, FLOAT_SHARE * 2 * (1 - goal))
    joined = _joined(network, table, layers, narrow, plain, goal)
    alone = _alone(network, table, layers, wide, goal)
    return _fastest(network, table, [plain, joined, alone])


class _Wide:
    """Which of the layers in 16 bits need F32, for smaller and smaller limits of their noise."""

    def __init__(
        self,
        layers: Layers,
        narrow: Mapping[Operation, str],
        limit: float,
    ) -> None:
        self.narrow, self.limit, self.saved = narrow, limit, layers.rates.saved
        self.blocks: list[Block[Operation]] = []
        self.can_grow = layers.noise(narrow) > limit
        if not self.can_grow:
            return
        # A network that 16 bits are too few for differs much from one sample to the next.
        noise_of = layers.noise_in(narrow, len(layers.network.samples))
        self.blocks = measure(list(narrow), noise_of, limit, EVALUATIONS)

    def floats(self, tightness: float) -> dict[Operation, str]:
        """The formats of all layers when none is in 8 bits."""
        _, held = choose(self.blocks, self.saved, self.limit * tightness)
        return {**self.narrow, **dict.fromkeys(held, "F32")}


def fewest_in_float(
    network: Network,
    table: CalibrationTable,
    layers: Layers,
    floats: Mapping[Operation, str],
    blocks: Sequence[Block[Operation]],
    goal: float,
) -> Mixture | None:
    """The fewest layers in float that meet the goal when they are lowered; None when all do not.

    All in float are tried first. Then the limit of the noise of 8 bits is moved: up as
    long as the goal is met, or down until it is; last to between the two that it lies between.
    """
    best = _tried(network, table, layers.modes(layers.in_8_bits, floats), goal)
    if best is None:
        return None
    share = (1 - FLOAT_SHARE) * 2 * (1 - goal)
    known: dict[frozenset[Operation], Mixture | None] = {}

    def at(factor: float) -> Mixture | None:
        _, held = choose(blocks, layers.rates.saved, factor * share)
        if (key := frozenset(held)) not in known:
            known[key] = _tried(network, table, layers.modes(held, floats), goal)
        return known[key]

    factor, found = 1.0, at(1.0)
    if found is None:
        while found is None and factor > TIGHTEST:
            factor *= TIGHTER
            found = at(factor)
        return best if found is None else nearer(at, known, factor, factor / TIGHTER) or found
    while factor < LOOSEST:
        if (looser := at(2 * factor)) is None:
            return nearer(at, known, factor, 2 * factor) or found
        factor, found = 2 * factor, looser
    return found


def nearer(
    at: Callable[[float], Mixture | None], known: Sized, good: float, bad: float
) -> Mixture | None:
    """The last mixture that holds while limits between `good` and `bad` are halved, if any does.

    Ends when the next limit is close to one that was tried, or `known` has grown by NEARER.
    """
    found, most = None, len(known) + NEARER
    while len(known) < most and bad / good > CLOSE:
        middle = (good * bad) ** 0.5
        if (mixture := at(middle)) is None:
            bad = middle
        else:
            good, found = middle, mixture
    return found


def _tried(
    network: Network, table: CalibrationTable, modes: Mapping[str, str], goal: float
) -> Mixture | None:
    """These formats, if the lowered network meets the goal with them."""
    cosine = network.cosine(table, modes)
    return Mixture(modes, cosine) if cosine >= goal else None


def _alone(
    network: Network, table: CalibrationTable, layers: Layers, wide: _Wide, goal: float
) -> Mixture | None:
    """Nothing in 8 bits, and as few layers in F32 as the goal allows then; None if it is missed."""
    tried: list[dict[str, str]] = []
    for part in ALONE:
        modes = layers.modes(layers.in_8_bits, wide.floats(part / FLOAT_SHARE))
        if modes in tried:
            continue
        tried.append(modes)
        if (found := _tried(network, table, modes, goal)) is not None:
            return found
    return None


def _joined(
    network: Network,
    table: CalibrationTable,
    layers: Layers,
    floats: Mapping[Operation, str],
    mixed: Mixture,
    goal: float,
) -> Mixture | None:
    """A mixture whose layers in 8 bits among layers in float are in float, too."""
    eight = [op for op in layers.in_8_bits if (name_of(op.results[0]) or "") not in mixed.modes]
    lost = islands(layers.rounded.ops, eight, layers.rates)
    if not lost:
        return None
    kept = set(eight) - lost
    held = [op for op in layers.in_8_bits if op not in kept]
    return _tried(network, table, layers.modes(held, floats), goal)


def _fastest(
    network: Network, table: CalibrationTable, candidates: Sequence[Mixture | None]
) -> Mixture:
    """What layers in 8 bits save may be less than casts around them cost: all are compiled."""
    found: list[Mixture] = []
    for one in candidates:
        if one is not None and all(one.modes != other.modes for other in found):
            found.append(one)
    if len(found) == 1:
        return found[0]
    return min(found, key=lambda one: network.cycles(table, one.modes))


def _in_f32(network: Network, table: CalibrationTable, layers: Layers, goal: float) -> Mixture:
    modes = layers.modes(layers.in_8_bits, dict.fromkeys(layers.in_float(), "F32"))
    cosine = network.cosine(table, modes)
    if cosine < goal:
        raise out_of_reach(goal, Mixture(modes, cosine), network.lowered(table, modes))
    return Mixture(modes, cosine)


def out_of_reach(goal: float, found: Mixture, lowered: ModuleOp) -> TpuError:
    """What is left with all layers in F32: those that are not after all, or its own rounding."""
    left = [
        f"'{name}' ({mode})"
        for name, mode in formats_of(lowered, tpu.CastOp).items()
        if mode != "F32"
    ]
    shown = ", ".join(left[:SHOWN]) + (
        f" and {len(left) - SHOWN} more" if len(left) > SHOWN else ""
    )
    reason = (
        f"not in F32 are {shown}"
        if left
        else "no layer is narrower, so that the outputs depend on how F32 rounds"
    )
    return TpuError(
        f"a cosine of {goal:g} is out of reach: with all {len(found.modes)} layers in F32 it is "
        f"{found.cosine:.6f}; {reason}"
    )
