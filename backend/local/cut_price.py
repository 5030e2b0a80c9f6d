"""What an op by itself takes when it is cut, by the cycles of the commands that some of the slices
would issue."""

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.tiling import pipeline_cycles
from xdsl_tpu.backend.local.context import LocalKernel
from xdsl_tpu.backend.local.cuts import Cut, Way
from xdsl_tpu.backend.local.dry import DryEmitter
from xdsl_tpu.backend.local.slices import Slices
from xdsl_tpu.backend.tensor import ceil_div
from xdsl_tpu.backend.tile.emit import issue
from xdsl_tpu.backend.tile.program import Step
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen


@dataclass(frozen=True, slots=True)
class Price:
    """Cycles of an op by itself, in how many of them the GDMA is busy, and how many bytes of every
    lane it uses."""

    cycles: int
    gdma: int
    local_bytes: int


@dataclass(frozen=True, slots=True)
class Choice:
    """How an op is cut, and what that takes the core that does most."""

    way: Way
    price: Price

    @property
    def cycles(self) -> int:
        """Until all is done."""
        return self.price.cycles


def price_of(op: LocalGen, kernel: LocalKernel, found: Cut, chip: Chip, cores: int) -> Price:
    """What a cut takes the core that does most: of slices of one size that load as much and are as
    much of a sum, and all go on from others or none, one is run dry. Raises DoesNotFit."""
    builder = Slices(op, kernel, found, chip)
    inner = builder.places.index(found.inner)
    results = len(builder.places) // found.together
    mine = results if results < cores else ceil_div(results, cores)
    places = builder.places[: mine * found.together]
    kinds = [
        (
            found.sizes(place),
            builder.news(number),
            place[-1] == 0,
            place[-1] == builder.sums - 1,
            found.follows(place),
        )
        for number, place in enumerate(places)
    ]
    known: dict[object, tuple[int, int, int]] = {}
    used = builder.local_bytes
    for number in (inner, *range(len(places))):
        if (kind := kinds[number]) not in known:
            load = _dry(builder.load(number, kind[1]), chip).gdma_cycles
            rest = _dry((builder.compute(number), *builder.store(number)), chip)
            known[kind] = load, rest.tiu_cycles, rest.gdma_cycles
            used = max(used, rest.local_bytes)
    first = _dry(builder.load(inner, builder.held), chip).gdma_cycles
    cycles = first + pipeline_cycles((known[kind] for kind in kinds), len(places))
    gdma = first + sum(known[kind][0] + known[kind][2] for kind in kinds)
    return Price(cycles, gdma, used)


def _dry(steps: Iterable[Step], chip: Chip) -> DryEmitter:
    """The commands of some steps, only counted."""
    emitter = DryEmitter(chip)
    for step in steps:
        issue(emitter, step)
    return emitter
