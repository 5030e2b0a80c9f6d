"""Which layers the time goes to."""

from dataclasses import dataclass

from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.program import Layer, Program
from xdsl_tpu.backend.timing import Timeline


@dataclass
class LayerCost:
    """A layer's share of a run, in cycles.

    `elapsed` is by how much the layer's commands moved the end of the run; over all layers it
    sums to the total. `tiu` and `gdma` are how long it kept each engine busy.
    """

    layer: Layer
    elapsed: int = 0
    tiu: int = 0
    gdma: int = 0
    commands: int = 0


NO_LAYER = Layer("(no layer)", "")


def layer_costs(program: Program, timeline: Timeline) -> list[LayerCost]:
    """The cost of every layer, in program order."""
    costs = [LayerCost(layer) for layer in program.layers]
    rest = LayerCost(NO_LAYER)
    events = [event for engine in Engine for event in timeline.events[engine]]
    reached = 0
    for event in sorted(events, key=lambda e: e.start + e.cycles):
        index = program.layer_indices(event.engine)[event.position]
        cost = costs[index] if index >= 0 else rest
        end = event.start + event.cycles
        cost.elapsed += max(0, end - reached)
        reached = max(reached, end)
        cost.commands += 1
        if event.engine is Engine.TIU:
            cost.tiu += event.cycles
        else:
            cost.gdma += event.cycles
    return [*costs, rest] if rest.commands else costs
