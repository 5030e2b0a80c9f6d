"""What the optimal search believes is what the final program's commands take."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from tests.passes.real_networks import example
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.timing import Timeline, simulate
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.names import layer_of
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.layer_group import overwrite
from xdsl_tpu.passes.layer_group.clock import Clock, Cost, SlicedCost
from xdsl_tpu.passes.layer_group.model import Group
from xdsl_tpu.passes.layer_group.optimal import OptimalSearch
from xdsl_tpu.passes.pipelines import STAGES, Settings, run_stage

CHIP = load_chip()

LATER = {
    "mobilenetv2_100": 0.009,
    "resnet50": 0.01,
    "swin_t": 0.01,
    "vit_small_patch16_224": 0.002,
}
"""By what share the program may end later than believed: the place in the ring in which a weight
fits in one piece is free later than as many bytes are."""

NOT_PRICED = ("fuse-attention", "split-products", "keep-lanes", "merge-moves")
"""Passes that search for groups of their own, or execute movement otherwise than the search saw."""


@dataclass(frozen=True)
class Believed:
    """A group by the names of its layers, with what the search counted for it."""

    names: Sequence[str]
    cost: Cost | SlicedCost

    @property
    def tiu(self) -> float:
        """Cycles of computing."""
        return self.cost.tiu

    @property
    def loads(self) -> float:
        """Cycles of loading activations."""
        return self.cost.loads

    @property
    def stores(self) -> float:
        """Cycles of storing."""
        return self.cost.stores


@dataclass
class Run:
    """A network: what its search believed, and the program that came out.

    `moves` are cycles of movement in front of ops that work alone.
    """

    groups: list[Believed]
    moves: int
    end: Clock
    program: Program
    timeline: Timeline


def believed(search: OptimalSearch, start: int, group: Group) -> Believed:
    """The search's cost of one of its groups."""
    end = start + len(group.ops)
    straight = group.secs.total == 1
    cost = search.costs.cost(start, end) if straight else search.costs.sliced(group)
    assert cost is not None
    return Believed(list(dict.fromkeys(map(layer_of, group.ops))), cost)


def compiled(name: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Compile a network, looking on while its groups are found."""
    groups: list[Believed] = []
    ends: list[Clock] = []
    moves: list[int] = []
    run = OptimalSearch.run

    def watched(search: OptimalSearch) -> list[Group]:
        found = run(search)
        for part in search.parts:
            if part.group is not None:
                groups.append(believed(search, part.start, part.group))
        ends.append(search.parts[-1].after)
        inside = {op for group in found for op in group.ops}
        before = search.costs.moves.found.values()
        moves.append(sum(m.cycles for m in before if search.ops[m.first] not in inside))
        return found

    monkeypatch.setattr(OptimalSearch, "run", watched)
    monkeypatch.setattr(overwrite, "LARGE", 2)  # what lies over operands is priced later
    module = example(name)
    for stage in STAGES:
        run_stage(module, stage, Settings(chip=CHIP.instruction_set, disable=NOT_PRICED))
    return Run(groups, moves[0], ends[0], *_program(module))


def _program(module: ModuleOp) -> tuple[Program, Timeline]:
    program = generate(module, weights_of(module), CHIP)
    return program, simulate(program.tiu, program.gdma, CHIP)


@dataclass
class Spent:
    """Cycles of a program: by layer (`tiu`, `stores`), loading weights and activations of groups,
    and executing movement outside groups."""

    tiu: Counter[str]
    stores: Counter[str]
    weights: int = 0
    loads: int = 0
    moves: int = 0


MOVES = {op.name for op in (tpu.PermuteOp, tpu.SwapDimInnerOp, tpu.Depth2SpaceOp)}


def spent(run: Run) -> Spent:
    """What the commands of the program take."""
    program, found = run.program, Spent(Counter(), Counter())
    inside = {name for group in run.groups for name in group.names}
    for event in run.timeline.events[Engine.TIU]:
        layer = program.layers[program.tiu_layers[event.position]]
        is_transfer = layer.op in ("tpu.Load", "tpu.Store")
        found.tiu[layer.op if is_transfer else layer.name] += event.cycles
    for event in run.timeline.events[Engine.GDMA]:
        layer = program.layers[program.gdma_layers[event.position]]
        if layer.op in MOVES and layer.name not in inside:
            found.moves += event.cycles
        elif layer.op == "tpu.Store":
            found.stores[layer.name] += event.cycles
        elif layer.op == "tpu.Load":
            found.loads += event.cycles
        elif layer.name in inside:
            found.weights += event.cycles
    return found


@pytest.mark.parametrize("name", sorted(LATER))
def test_costs_are_the_cycles_of_the_program(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exact but for packs, whose composition is known last, the cycle in which movement that is
    executed begins to overlap, and the few in which stores turn single channels into a row."""
    run = compiled(name, monkeypatch)
    real = spent(run)
    filled = real.tiu["tpu.Load"]
    assert real.tiu["tpu.Store"] < 100
    for group in run.groups:
        assert sum(real.stores[one] for one in group.names) == group.stores
        assert 0 <= group.tiu - sum(real.tiu[one] for one in group.names) <= filled
    names = [one for group in run.groups for one in group.names]
    assert sum(real.tiu[one] for one in names) + filled == sum(g.tiu for g in run.groups)
    loads = sum(group.loads for group in run.groups)
    assert loads == pytest.approx(real.loads + real.moves - run.moves, rel=1e-3, abs=16)
    weights = sum(group.cost.weights for group in run.groups)
    assert weights == pytest.approx(real.weights, rel=0.02)
    late = run.timeline.total / run.end.end - 1
    assert -0.001 <= late <= LATER[name]
