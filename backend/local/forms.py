"""How the values of a group are arranged on the lanes, beyond channel by channel.

Three arrangements are decided by looking at the users, so that the DMA does the work:

- ROW: a weight with one channel that its user needs in every lane (biases, row vectors);
- MERGED: the operand of a convolution whose filter taps were moved into the lanes, together with
  the casts between its load and the convolution;
- COEFFICIENTS: of the merged ones of a quantised convolution those of some channels, of which each
  lane has all parts together.
"""

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.local.context import Form
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, LocalGen, MergesTaps
from xdsl_tpu.dialects.records import record
from xdsl_tpu.dialects.tpu.local import is_weight


@record(frozen=True, slots=True)
class Arrangement:
    """The form of a value; `reader` is the op that a MERGED value is for.

    `parameter` marks a ROW that is one row of all its elements.
    """

    form: Form = Form.PLAIN
    reader: MergesTaps | None = None
    parameter: bool = False


PLAIN = Arrangement()


def arrangements(group: tpu.GroupOp, lanes: int) -> dict[SSAValue, Arrangement]:
    """The values of a group that are not arranged plainly."""
    kind = GroupType(group.group_type.value.data)
    found: dict[SSAValue, Arrangement] = {}
    for op in group.body.block.ops:
        if isinstance(op, tpu.LoadOp):
            row = _row(op, kind, lanes)
            if row is not None:
                found[op.output] = row
            elif _is_part_of_coefficients(op):
                found[op.output] = Arrangement(Form.COEFFICIENTS)
        elif isinstance(op, MergesTaps):
            found |= {value: Arrangement(Form.MERGED, op) for value in _merged(op)}
    return found


def has_coefficients(op: Operation, index: int) -> bool:
    """Whether an operand holds filter, bias and factors of a quantised convolution together."""
    return isinstance(op, tpu.Conv2DOp) and index == 1 and bool(op.coeff_merged.value.data)


def _is_part_of_coefficients(load: tpu.LoadOp) -> bool:
    """Whether cores load those of their own channels."""
    if load.ginfo is None or len(load.ginfo.c_slice) < 2:
        return False
    return any(has_coefficients(use.operation, use.index) for use in load.output.uses)


def _row(load: tpu.LoadOp, kind: GroupType, lanes: int) -> Arrangement | None:
    for use in load.output.uses:
        row = row_form(use.operation, use.index, kind, lanes)
        if row is not None:
            return row
    return None


def row_form(op: Operation, index: int, kind: GroupType, lanes: int) -> Arrangement | None:
    """The arrangement of an operand that an op needs in every lane; None for others."""
    if not isinstance(op, LocalGen):
        return None
    if index in op.row_operands():
        return Arrangement(Form.ROW, parameter=True)
    if not op.stretches_channels():
        return None
    operand = op.operands[index]
    loaded = operand.owner
    source = loaded.input if isinstance(loaded, tpu.LoadOp) else operand
    if not is_weight(source) or of_value(operand, kind, lanes).c > 1:
        return None
    stretched = of_value(op.results[0], kind, lanes).c > 1
    return Arrangement(Form.ROW) if stretched else None


def _merged(op: MergesTaps) -> list[SSAValue]:
    """The operand with merged taps and what it is made from, when they serve nothing else."""
    if not any(op.merged_taps()):
        return []
    chain = list(_following(op.operands[0]))
    alone = all(len(list(value.uses)) == 1 for value in chain)
    return chain if alone and isinstance(chain[-1].owner, tpu.LoadOp) else []


def _following(value: SSAValue) -> Iterator[SSAValue]:
    yield value
    while isinstance(value.owner, LocalGen) and value.owner.follows_reader():
        value = value.owner.operands[0]
        yield value
