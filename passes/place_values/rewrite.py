"""Writing ops under the images and channels that were chosen for their results."""

from collections.abc import Mapping

from xdsl.dialects.builtin import LocationAttr, TensorType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import RankedTensor
from xdsl_tpu.dialects.interfaces.lane_view import Lanes, LaneView, Viewed, lanes_of
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.tpu.local import EachElement, LocalReshape
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.graph import derived_name, is_returned, tensor_like
from xdsl_tpu.passes.layer_group.base_groups import why_not_local
from xdsl_tpu.passes.place_values.choose import is_as_it_stands, viewed_op
from xdsl_tpu.passes.place_values.components import seen
from xdsl_tpu.passes.tensors import element_of, is_weight, shape_of
from xdsl_tpu.passes.weight_data import change_weight


class Rewriter:
    """Writes the ops of a block anew, in order; `chosen` has a value's lanes where they change.

    `weights`, as far as they are known, are renamed with the ops that read them.
    """

    def __init__(
        self, block: Block, chosen: Mapping[SSAValue, Lanes], weights: Weights | None
    ) -> None:
        self.block, self.chosen, self.weights = block, chosen, weights
        self._seen: dict[SSAValue, SSAValue] = {}
        self._other: dict[tuple[SSAValue, Shape], SSAValue] = {}

    def run(self) -> None:
        """Rewrite all ops; what a function returns keeps its name and shape."""
        old: list[Operation] = []
        for op in list(self.block.ops):
            view = self._view(op)
            if view is not None:
                assert isinstance(op, LaneView)
                self._seen[op.results[0]] = self._written(op, view)
                old.append(op)
                continue
            for index, value in enumerate(op.operands):
                if value in self._seen:
                    whatever = isinstance(op, tpu.ReshapeOp)
                    source = self._seen[value] if whatever else self._as_it_was(value, op)
                    op.operands[index] = source
        for op in reversed(old):
            op.detach()
            op.erase()

    def _view(self, op: Operation) -> Viewed | None:
        """How an op is to be written; None when it stays."""
        if (taken := self._taken(op)) is not None:
            return taken
        lanes = self.chosen.get(op.results[0]) if len(op.results) == 1 else None
        view = op.viewed(lanes) if lanes is not None and isinstance(op, LaneView) else None
        if view is None or not isinstance(op, LaneView):
            return None
        if isinstance(op, tpu.ReshapeOp) and not self._is_followed(op):
            return None
        source = self._seen.get(op.operands[0])
        if source is not None and isinstance(op, EachElement | LocalReshape):
            shape = shape_of(source)
            if lanes_of(shape) == lanes and not _is_cut_anew(op, lanes, shape):
                # As its operand, whatever lies behind the channels.
                return Viewed((shape, *view.operands[1:]), shape, view.attributes)
        return None if source is None and is_as_it_stands(op, view) else view

    def _taken(self, op: Operation) -> Viewed | None:
        """How an op that does not follow its operand is to read it as it is seen, if it can be
        and nobody wants its result otherwise."""
        own = seen(op)
        if own is None or 0 in own.followed() or op.operands[0] not in self._seen:
            return None
        result = op.results[0]
        if self.chosen.get(result, lanes_of(shape_of(result))) != lanes_of(shape_of(result)):
            return None
        return own.taken(0, lanes_of(shape_of(self._seen[op.operands[0]])))

    def _is_followed(self, op: tpu.ReshapeOp) -> bool:
        """Whether an op behind it is written under the same lanes."""
        users = [use.operation for use in op.output.uses]
        return any(isinstance(user, LaneView) and user.results[0] in self.chosen for user in users)

    def _written(self, op: LaneView, view: Viewed) -> SSAValue:
        if isinstance(op, LocalReshape):
            assert view.operands[0] is not None
            return self._as(op.operands[0], view.operands[0], op)
        operands = (
            self._as_it_was(value, op) if shape is None else self._as(value, shape, op)
            for value, shape in zip(op.operands, view.operands, strict=True)
        )
        made = viewed_op(op, view, operands)
        if is_returned(op) and view.result != shape_of(op.results[0]):
            made.location = name_loc(derived_name(op, "_seen"))
        self.block.insert_op_before(made, op)
        op.operands = ()  # so that a weight of its own has one user
        for index, shape in enumerate(view.operands):
            if shape is not None and shape != shape_of(made.operands[index]):
                change_weight(made, index, shape, lambda data: data, self.weights)
        return made.results[0]

    def _as_it_was(self, value: SSAValue, user: Operation) -> SSAValue:
        """An operand under the shape that it had, and under its name where it is returned."""
        if value not in self._seen:
            return value
        same = shape_of(self._seen[value]) == shape_of(value)
        if not isinstance(user, ReturnOp) or (same and not isinstance(value.owner, LocalReshape)):
            return self._as(value, shape_of(value), user)
        assert isinstance(value.owner, Operation)
        kind = TensorType(element_of(value), shape_of(value))  # without ranges, where it has none
        return self._reshaped(self._seen[value], kind, value.owner.location, user)

    def _as(self, value: SSAValue, shape: Shape, user: Operation) -> SSAValue:
        """A value of the old ops under a shape, for an op that is about to read it.

        A weight that the op itself reads stays as it is.
        """
        source = self._seen.get(value, value)
        if shape_of(source) == shape or is_weight(value):
            return source
        if (source, shape) not in self._other:
            name = derived_name(value, f"_as_{'x'.join(map(str, shape))}")
            kind = tensor_like(source, shape)
            self._other[source, shape] = self._reshaped(source, kind, name_loc(name), user)
        return self._other[source, shape]

    def _reshaped(
        self, source: SSAValue, kind: RankedTensor, name: LocationAttr, user: Operation
    ) -> SSAValue:
        view = tpu.ReshapeOp.make(name, (source,), result_types=[kind], shape=kind.get_shape())
        maker = source.owner
        if isinstance(maker, Operation) and why_not_local(maker) is not None:
            # What lies in DDR is seen so at once: later on, the view would part a group.
            self.block.insert_op_after(view, maker)
        else:
            self.block.insert_op_before(view, user)
        return view.output


def _is_cut_anew(op: Operation, lanes: Lanes | None, source: Shape) -> bool:
    """Whether an op stands under `lanes` already, behind a Reshape that gives images more rows than
    `source` has: a group can be cut between these."""
    if not isinstance(op, EachElement) or not isinstance(op.operands[0].owner, tpu.ReshapeOp):
        return False
    shape = shape_of(op.results[0])
    return lanes_of(shape) == lanes and len(shape) == 4 and shape[2] > (*source[2:-1], 1)[0]
