"""Parts of a function whose values have several blocks, each of which is decided by itself."""

from dataclasses import dataclass, field

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.fold_rows.choice import Folds
from xdsl_tpu.passes.fold_rows.network import Network, Values
from xdsl_tpu.passes.joined_sets import JoinedSets
from xdsl_tpu.passes.tensors import required_name


@dataclass(slots=True)
class Region:
    """Ops that blocks join, and those beside them; the blocks of their sets of values."""

    ops: list[Operation] = field(default_factory=list[Operation])
    folds: Folds = field(default_factory=dict[Values, int])


def regions_of(func: FuncOp, network: Network, folds: Folds) -> list[Region]:
    """The regions of a function, in its order."""
    several = [one for one, blocks in folds.items() if blocks > 1]
    edges, linked = {edge.op for edge in network.edges}, JoinedSets[Values]()
    around: list[tuple[Operation, list[Values]]] = []
    for op in func.body.block.ops:
        beside = op in edges or op in network.steps or isinstance(op, top.PixelNormOp)
        values = (*op.operands, *op.results) if beside else ()
        sets = [network.of[value] for value in values if value in network.of]
        folded = [one for one in dict.fromkeys(sets) if folds.get(one, 1) > 1]
        if folded:
            around.append((op, folded))
            for one in folded[1:]:
                linked.join(one, folded[0])
    regions: dict[Values, Region] = {}
    for op, folded in around:
        regions.setdefault(linked.find(folded[0]), Region()).ops.append(op)
    for one in several:
        regions.setdefault(linked.find(one), Region()).folds[one] = folds[one]
    return [region for region in regions.values() if region.ops]


def folds_within(func: FuncOp, own: Network, network: Network, region: Region) -> Folds:
    """The blocks that a region has, of the values of `func`, into which its ops were copied."""
    originals = {required_name(op): op for op in region.ops}
    folds = dict.fromkeys(own.sets(), 1)
    for op in func.body.block.ops:
        original = originals.get(required_name(op)) if op.results and computes(op) else None
        if original is not None:
            pairs: list[tuple[SSAValue, SSAValue]] = [
                *zip(op.operands, original.operands, strict=True),
                *zip(op.results, original.results, strict=True),
            ]
            for copy, value in pairs:
                if copy in own.of:
                    folds[own.of[copy]] = region.folds.get(network.of[value], 1)
    return folds


def computes(op: Operation) -> bool:
    """Whether an op is more than a value that is given."""
    return not isinstance(op, top.InputOp | top.WeightOp | top.NoneOp | ReturnOp)
