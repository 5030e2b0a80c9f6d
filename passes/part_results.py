"""The pass `part-results`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import LAYER, layer_of, name_loc
from xdsl_tpu.dialects.traits import InOutSameShape, SupportElementwise
from xdsl_tpu.passes.address_assign.views import RESHAPES
from xdsl_tpu.passes.graph import module_of, sole_producer, tensor_like
from xdsl_tpu.passes.join_in_place import has_own_bytes, lies_side_by_side
from xdsl_tpu.passes.layer_group.base_groups import computing_ops
from xdsl_tpu.passes.layer_group.window import WindowCosts
from xdsl_tpu.passes.module_state import chip_of, cores_of
from xdsl_tpu.passes.tensors import element_bytes, functions, required_name, shape_of, size_in_bytes


@dataclass(frozen=True)
class PartResultsPass(ModulePass):
    """Store what a network gives part by part, the largest part first.

        %2 = "tpu.Concat"(%0, %1) : 1x84x8400        %2 = "tpu.Cast"(%0) : 1x4x8400
        %3 = "tpu.Cast"(%2) : 1x84x8400       ->     %3 = "tpu.Cast"(%1) : 1x80x8400
        return %3                                    %4 = "tpu.Join"(%2, %3) : 1x84x8400
                                                     return %4

    A Concat at the end of a function is stored when all is done, and nothing is computed meanwhile.
    Its operands, cast and so on each by itself, lie side by side in the result, where the Concat is
    along the first axis of more than one element and each begins at a multiple of 4 bytes. The ops
    at the end that only one part or result needs then come in the order in which the stores of what
    is made first are hidden behind the most that is computed after them. `chip` is a name or a
    `.toml` description, by default `module.chip`. Nothing is done for several cores, which share
    the slices of what they store.
    """

    name = "part-results"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chip = chip_of(op, self.chip)
        if cores_of(op) > 1:
            return
        for func in functions(op):
            for value in results_of(func):
                _part(value)
            _order(func, chip)


def _returned(func: FuncOp) -> Sequence[SSAValue]:
    last = func.body.block.last_op
    return last.operands if isinstance(last, ReturnOp) else ()


def results_of(func: FuncOp) -> list[SSAValue]:
    """What a function gives, each once, as it is before only its shape changes."""
    return list(dict.fromkeys(map(_made, _returned(func))))


def _made(value: SSAValue) -> SSAValue:
    """What a result is, behind which only its shape changes."""
    while value.has_one_use() and isinstance(value.owner, RESHAPES):
        value = value.owner.input
    return value


def _part(value: SSAValue) -> None:
    """Have the parts of one result made each by itself, if they can be."""
    behind = list(_each_by_itself(value))
    first = behind[-1].operands[0] if behind else value
    concat = sole_producer(first, tpu.ConcatOp)
    makers = [op for op in behind if not isinstance(op, RESHAPES)]
    if concat is None or not lies_side_by_side(concat, element_bytes(value)):
        return
    if not makers and not all(map(has_own_bytes, concat.inputs)):
        return
    block = concat.parent
    assert isinstance(block, Block)
    last = behind[0] if behind else concat
    parts = list(concat.inputs)
    for number, part in enumerate(parts):
        for op in reversed(makers):
            new = op.clone()
            new.operands[0] = parts[number]
            made = tensor_like(op.results[0], shape_of(part))
            parts[number] = Rewriter.replace_value_with_new_type(new.results[0], made)
            new.location = name_loc(f"{required_name(op)}_part_{number}")
            new.attributes[LAYER] = StringAttr(layer_of(op))
            block.insert_op_before(new, last)
    name, shape = required_name(value), shape_of(concat.output)
    seen = shape_of(value) != shape
    joined = tpu.JoinOp.make(
        f"{name}_joined" if seen else name,
        parts,
        result_types=(tensor_like(value, shape),),
        axis=concat.axis.value.data,
    )
    # Behind all else that is computed, which may be in one group with the parts.
    reader = next(op for op in _behind(last) if value in op.operands)
    block.insert_op_before(joined, reader)
    result = joined.output
    if seen:
        view = tpu.ReshapeOp.make(
            name, (result,), result_types=(value.type,), shape=shape_of(value)
        )
        block.insert_op_before(view, reader)
        result = view.output
    value.replace_all_uses_with(result)
    for op in (*behind, concat):
        op.detach()
        op.erase()


def _behind(op: Operation) -> Iterator[Operation]:
    """The ops behind one in its block."""
    while (after := op.next_op) is not None:
        yield (op := after)


def _each_by_itself(value: SSAValue) -> Iterator[Operation]:
    """The ops behind a Concat that work element by element, whatever the shape, and those that
    change the shape, the last one first."""
    while value.has_one_use() and isinstance(op := value.owner, Operation):
        plain = op.has_trait(InOutSameShape) and op.has_trait(SupportElementwise)
        plain |= isinstance(op, RESHAPES)
        others = [one for one in op.operands[1:] if not is_none(one)]
        if not plain or others or len(op.results) != 1:
            return
        yield op
        value = op.operands[0]


def _parts(func: FuncOp) -> Iterator[SSAValue]:
    """What is stored of all that a function gives."""
    for value in dict.fromkeys(map(_made, _returned(func))):
        if isinstance(value.owner, tpu.JoinOp):
            yield from value.owner.inputs
        else:
            yield value


def _order(func: FuncOp, chip: Chip) -> None:
    """Let the ops at the end that one part alone needs come part by part."""
    block = func.body.block
    end = block.last_op
    assert end is not None
    ends = list(_ends(func))
    for op in ends:
        op.detach()
        block.insert_op_before(op, end)
    ops = [op for op in computing_ops(block) if op not in ends]
    owner = _owners(ops, list(_parts(func)))
    tail: list[Operation] = []
    for op in reversed(ops):
        if owner[op] is None:
            break
        tail.insert(0, op)
    jobs: dict[SSAValue, list[Operation]] = {}
    for op in tail:
        part = owner[op]
        assert part is not None
        jobs.setdefault(part, []).append(op)
    if len(jobs) < 2:
        return
    end, costs = ends[0] if ends else end, WindowCosts(chip, module_of(end))
    for op in (op for part in _best_order(jobs, costs) for op in jobs[part]):
        op.detach()
        block.insert_op_before(op, end)


def _ends(func: FuncOp) -> Iterator[Operation]:
    """What only says where results lie and how they are seen, in order."""
    made = dict.fromkeys(map(_made, _returned(func)))
    found = set[Operation](v.owner for v in made if isinstance(v.owner, tpu.JoinOp))
    for value in _returned(func):
        while value not in made and isinstance(value.owner, RESHAPES):
            found.add(value.owner)
            value = value.owner.input
    yield from (op for op in func.body.block.ops if op in found)


def _owners(
    ops: Sequence[Operation], parts: Sequence[SSAValue]
) -> dict[Operation, SSAValue | None]:
    """The part that alone needs an op; None where there are several, or none."""
    needed: dict[Operation, set[SSAValue]] = {op: set() for op in ops}
    for part in parts:
        if isinstance(part.owner, Operation) and part.owner in needed:
            needed[part.owner].add(part)
    for op in reversed(ops):
        for value in op.operands:
            if isinstance(value.owner, Operation) and value.owner in needed:
                needed[value.owner] |= needed[op]
    return {op: next(iter(who)) if len(who) == 1 else None for op, who in needed.items()}


def _best_order(jobs: dict[SSAValue, list[Operation]], costs: WindowCosts) -> list[SSAValue]:
    """Johnson's rule for two machines, one that computes and one that stores: what takes longer to
    store goes first, the quickest to compute before others; then the longest to store first."""
    computed = {part: costs.computed(ops) for part, ops in jobs.items()}
    stored = {part: size_in_bytes(part) / costs.chip.store_bytes_per_cycle for part in jobs}

    def key(part: SSAValue) -> tuple[bool, float]:
        late = computed[part] > stored[part]
        return late, -stored[part] if late else computed[part]

    return sorted(jobs, key=key)
