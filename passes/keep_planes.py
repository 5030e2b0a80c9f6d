"""The pass `keep-planes`."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import get_args

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.quant import stored_element
from xdsl_tpu.dialects.tpu.local import EachElement, LocalBroadcast
from xdsl_tpu.dialects.weights import Weights, known_weights
from xdsl_tpu.passes.graph import derived_name, rebuilt, tensor_like, users
from xdsl_tpu.passes.lowering.context import F32, LoweringContext
from xdsl_tpu.passes.lowering.steps import Steps
from xdsl_tpu.passes.module_state import State, chip_of, require_state
from xdsl_tpu.passes.split_long_rows.channels import ChannelNorm, image_of, normalised_channels
from xdsl_tpu.passes.split_long_rows.rows import Rows
from xdsl_tpu.passes.tensors import element_of, functions, is_weight, shape_of

SWAP = (0, 2, 1, 3)
"""Exchanges channels and planes of (n, channels, planes, positions)."""

VOLUME = 5
"""Dimensions of a tensor of planes: N, C, D, H, W."""

Norm = tpu.GroupNormOp | tpu.InstanceNormOp

MOVABLE = (
    tpu.ReshapeOp,
    tpu.ConcatOp,
    EachElement,
    LocalBroadcast,
    tpu.Pool2DOp,
    *get_args(Norm),
)
"""Ops that may give by planes what they take so."""


@dataclass(frozen=True)
class KeepPlanesPass(ModulePass):
    """Leave volumes plane behind plane, the order in which convolutions give and take them.

    A convolution over three dimensions has planes as channels of an image. What is between two of
    them need not be by channel, then by plane:

        %1 = Permute(%0) {order = [0, 2, 1, 3]} : 1x32x5x4096
        %2 = Reshape(%1) : 1x32x5x64x64
        %3 = LeakyRelu(%2) : 1x32x5x64x64                       ->   %5 = LeakyRelu(%0)
        %4 = Reshape(%3) : 1x32x5x4096
        %5 = Permute(%4) {order = [0, 2, 1, 3]} : 1x5x32x4096

    So for all that is done to each element, sums of volumes, gates of channels, channels that are
    joined, pools within planes, and norms of channels: a group's moments are those of its channels
    in all planes. Only where what comes of it is taken by planes again, behind more such ops or at
    once, or is less, as means and maxima of all planes are.

    `chip`, a name or a `.toml` description, says what a lane holds; by default `module.chip`.
    """

    name = "keep-planes"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TPU_LOWERED, self.name)
        chip, weights = chip_of(op, self.chip), known_weights(op)
        for func in functions(op):
            _Planes(func, chip, weights).keep()


@dataclass(frozen=True)
class _Seen:
    """A volume (n, c, planes, h, w) that `value` holds plane by plane."""

    value: SSAValue
    n: int
    c: int
    planes: int
    h: int
    w: int

    @property
    def positions(self) -> int:
        """Of a channel in a plane."""
        return self.h * self.w


@dataclass
class _Planes:
    func: FuncOp
    chip: Chip
    weights: Weights | None
    seen: dict[SSAValue, _Seen] = field(default_factory=dict[SSAValue, _Seen])

    def keep(self) -> None:
        """Do so in all of the function."""
        for op in list(self.func.body.block.ops):
            match op:
                case tpu.ReshapeOp():
                    self._reshape(op)
                case tpu.PermuteOp():
                    self._permute(op)
                case tpu.ReduceOp() if op.input in self.seen:
                    self._reduce(op)
                case _ if op.results and any(value in self.seen for value in op.operands):
                    self._move(op)
                case _:
                    pass
        for op in reversed(list(self.func.body.block.ops)):
            if isinstance(op, tpu.ReshapeOp | tpu.PermuteOp) and op.output.first_use is None:
                op.detach()
                op.erase()

    def _reshape(self, op: tpu.ReshapeOp) -> None:
        maker, shape = op.input.owner, shape_of(op.output)
        if op.input in self.seen:
            self.seen[op.output] = self.seen[op.input]
        elif isinstance(maker, tpu.PermuteOp) and ints(maker.order) == SWAP:
            volume = shape_of(maker.output)[:3]
            if len(shape) == VOLUME and shape[:3] == volume:
                self.seen[op.output] = _Seen(maker.input, *shape)

    def _permute(self, op: tpu.PermuteOp) -> None:
        """What takes a volume by planes takes it as it is; images by channel are a volume."""
        seen = self.seen.get(op.input)
        if seen is None:
            self._images(op)
            return
        if not _takes_planes(op, seen):
            return
        value, shape = seen.value, shape_of(op.output)
        if shape_of(value) != shape:
            seen_so = tpu.ReshapeOp.make(
                op.location, (value,), result_types=(op.output.type,), shape=list(shape)
            )
            value = Builder(InsertPoint.before(op)).insert(seen_so).output
        op.output.replace_all_uses_with(value)

    def _images(self, op: tpu.PermuteOp) -> None:
        """Note the volume that is made of images, be it seen in four dimensions only."""
        maker = op.input.owner
        if ints(op.order) != SWAP or not isinstance(maker, tpu.ReshapeOp):
            return
        n, planes, c, positions = shape_of(op.input)
        count, channels, *plane = shape_of(maker.input)
        if len(plane) == 2 and (count, channels, prod(plane)) == (n * planes, c, positions):
            self.seen[op.output] = _Seen(op.input, n, c, planes, *plane)

    def _move(self, op: Operation) -> None:
        """Compute by planes, and go back by channel for whom wants that."""
        seen = next(self.seen[value] for value in op.operands if value in self.seen)
        if not self._is_movable(op, seen):
            return
        seen = _behind(op, seen)
        # Pools leave less to be put together.
        if not isinstance(op, tpu.Pool2DOp) and not self._is_taken(op.results[0], seen):
            return
        do = self._steps(op)
        made = self._made(op, seen, do)
        if made is None:
            return
        element = do.ctx.element
        apart = made.n, made.planes, made.c, made.positions
        value = do.reshaped("by_planes", made.value, apart, element)
        shape = made.n, made.c, made.planes, made.positions
        value = do.step("by_channel", tpu.PermuteOp, [value], shape, element, order=list(SWAP))
        whole = do.last(tpu.ReshapeOp, [value], element, shape=list(shape_of(op.results[0])))
        op.results[0].replace_all_uses_with(whole)
        op.detach()
        op.erase()
        self.seen[whole] = made

    def _steps(self, op: Operation) -> Steps:
        """What builds ops in front of `op`, in its number format."""
        block, builder = self.func.body.block, Builder(InsertPoint.before(op))
        element = element_of(op.results[0])
        return Steps(op, LoweringContext(element, self.weights, block, builder, self.chip))

    def _reduce(self, op: tpu.ReduceOp) -> None:
        """What is reduced over planes and their positions is so plane by plane, and then that."""
        seen, shape = self.seen[op.input], shape_of(op.input)
        reduced = sorted(axis % len(shape) for axis in ints(op.axes))
        if reduced != list(range(2, len(shape))) or op.mode.data not in _IN_PARTS:
            return
        if not isinstance(element_of(op.input), AnyFloat) or op.is_scalar.value.data:
            return
        do = self._steps(op)
        element, none = do.ctx.element, [do.ctx.none()] * 2
        value, of_planes = self._images_of(do, op.input), (seen.n * seen.planes, seen.c, 1, 1)
        options = {"keepdims": True, "mode": op.mode}
        value = do.step(
            "of_planes", tpu.ReduceOp, [value, *none], of_planes, element, axes=[2, 3], **options
        )
        value = do.reshaped("planes", value, (seen.n, seen.planes, seen.c, 1), element)
        apart = seen.n, seen.c, seen.planes, 1
        value = do.step("by_channel", tpu.PermuteOp, [value], apart, element, order=list(SWAP))
        channels = seen.n, seen.c, 1, 1
        value = do.step(
            "of_channels", tpu.ReduceOp, [value, *none], channels, element, axes=[2], **options
        )
        whole = do.last(tpu.ReshapeOp, [value], element, shape=list(shape_of(op.output)))
        op.output.replace_all_uses_with(whole)
        op.detach()
        op.erase()

    def _is_movable(self, op: Operation, seen: _Seen) -> bool:
        """Whether an op of volumes, all of them here by planes, may compute so."""
        match op:
            case EachElement():
                return all(is_none(value) for value in op.operands[1:])
            case LocalBroadcast():
                given = [value for value in op.operands if not is_none(value)]
                volumes = [value for value in given if value in self.seen]
                if any(not _is_gate(value, seen) for value in given if value not in volumes):
                    return False
                kinds = {replace(self.seen[value], value=given[0]) for value in volumes}
                alike = {shape_of(value) for value in volumes} == {shape_of(op.results[0])}
                return alike and len(kinds) == 1
            case tpu.ConcatOp():
                return op.axis.value.data == 1 and self._are_alike(op.inputs)
            case tpu.Pool2DOp():
                seen = self.seen[op.input]
                n, c, h, w = shape_of(op.input)
                return (n, c, h * w) == (seen.n, seen.c * seen.planes, seen.positions)
            case tpu.GroupNormOp() | tpu.InstanceNormOp():
                return all(is_none(one) or is_weight(one) for one in (op.weight, op.bias))
            case _:
                return False

    def _are_alike(self, values: Sequence[SSAValue]) -> bool:
        """Whether values are volumes by planes that differ in channels alone."""
        if any(value not in self.seen for value in values):
            return False
        first = values[0]
        volumes = {replace(self.seen[value], value=first, c=1) for value in values}
        own = all(shape_of(value)[1] == self.seen[value].c for value in values)
        return own and len(volumes) == 1

    def _is_taken(self, value: SSAValue, seen: _Seen) -> bool:
        """Whether someone takes a value by planes, perhaps behind others that may compute so."""
        return any(
            _takes_planes(user, seen)
            if isinstance(user, tpu.PermuteOp)
            else isinstance(user, MOVABLE) and self._is_taken(user.results[0], _behind(user, seen))
            for user in users(value)
        )

    def _made(self, op: Operation, seen: _Seen, do: Steps) -> _Seen | None:
        if isinstance(op, Norm):
            return self._norm(op, seen, do)
        if isinstance(op, tpu.ConcatOp):
            return self._joined(op, seen, do)
        pooled = isinstance(op, tpu.Pool2DOp)
        shape = shape_of(op.operands[0]) if pooled else shape_of(seen.value)
        given = [value for value in op.operands if not is_none(value)]
        if any(value not in self.seen for value in given):
            shape = (seen.planes, seen.c, seen.h, seen.w)
        operands = [
            value if is_none(value) else self._shaped(do, value, shape) for value in op.operands
        ]
        result = tensor_like(op.results[0], shape_of(op.results[0]) if pooled else shape)
        name = name_loc(derived_name(op, "_in_planes"))
        made = rebuilt(op, operands=operands, result_types=[result], location=name)
        (value,) = do.ctx.add(made)
        h, w = shape_of(value)[2:] if pooled else (seen.h, seen.w)
        return _Seen(value, seen.n, seen.c, seen.planes, h, w)

    def _joined(self, op: tpu.ConcatOp, seen: _Seen, do: Steps) -> _Seen:
        """Channels of several volumes, those of each plane together."""
        shape = (seen.n, seen.planes, seen.c, seen.positions)
        parts = [
            self._shaped(do, value, (seen.n, seen.planes, self.seen[value].c, seen.positions))
            for value in op.inputs
        ]
        name = name_loc(derived_name(op, "_in_planes"))
        result = tensor_like(op.output, shape)
        made = rebuilt(op, operands=parts, result_types=[result], location=name)
        made.axis = IntegerAttr(2, made.axis.type)
        (value,) = do.ctx.add(made)
        return replace(seen, value=value)

    def _shaped(self, do: Steps, value: SSAValue, shape: tuple[int, ...]) -> SSAValue:
        """A volume by planes in a shape; what gates channels is that of each image."""
        if value not in self.seen:
            gate = (1, shape_of(value)[1], 1, 1)
            label = f"{derived_name(value, '')}_gate"
            return do.reshaped(label, value, gate, element_of(value))
        by_planes = self.seen[value].value
        label = f"{derived_name(by_planes, '')}_seen"
        return do.reshaped(label, by_planes, shape, element_of(by_planes))

    def _images_of(self, do: Steps, value: SSAValue) -> SSAValue:
        """A volume as images, one for each plane."""
        seen = self.seen[value]
        return self._shaped(do, value, (seen.n * seen.planes, seen.c, seen.h, seen.w))

    def _norm(self, op: Norm, seen: _Seen, do: Steps) -> _Seen | None:
        n, c, *rest = shape_of(op.input)
        if (n, c, prod(rest)) != (seen.n, seen.c, seen.planes * seen.positions):
            return None
        image = image_of((n, seen.planes * c, seen.h, seen.w), Rows(self.chip, do.ctx))
        if image is None:
            return None
        groups = op.num_groups.value.data if isinstance(op, tpu.GroupNormOp) else c
        norm = ChannelNorm(
            seen.value, image, groups, op.eps.value.data, op.weight, op.bias, seen.planes
        )
        value = normalised_channels(do, norm)
        if stored_element(do.ctx.element) != F32:
            value = do.step("narrow", tpu.CastOp, [value], image, do.ctx.element)
        return replace(seen, value=value)


def _is_gate(value: SSAValue, seen: _Seen) -> bool:
    """Whether a value has one number for each channel of a volume."""
    shape = shape_of(value)
    return seen.n == 1 and shape == (1, seen.c, *(1 for _ in shape[2:])) and len(shape) > 3


_IN_PARTS = ("ReduceMean", "ReduceMax", "ReduceMin")
"""What is the same of equal parts, and then of what these give."""


def _behind(op: Operation, seen: _Seen) -> _Seen:
    """What a volume is behind an op that keeps its planes."""
    if isinstance(op, tpu.ConcatOp) and op.axis.value.data == 1:
        return replace(seen, c=shape_of(op.output)[1])
    return seen


def _takes_planes(op: tpu.PermuteOp, seen: _Seen) -> bool:
    """Whether this is where a volume comes to be by planes."""
    return ints(op.order) == SWAP and shape_of(op.input)[:3] == (seen.n, seen.c, seen.planes)
