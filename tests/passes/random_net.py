"""Networks whose ops are drawn: random choices, and the ops that attention is made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from tests.passes.semantics import Net
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import NamedOp

Shape = tuple[int, ...]

MOST_ELEMENTS = 6000
"""No tensor becomes larger."""


@dataclass(frozen=True)
class Tensor:
    """A value and its shape, which its type does not have before the network is complete."""

    value: SSAValue
    shape: Shape


class RandomNet:
    """A network under construction and the random numbers that decide about it."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.net = Net()
        self.tensors: list[Tensor] = []
        self._count = 0

    def name(self, kind: str) -> str:
        """A new name."""
        self._count += 1
        return f"{kind}{self._count}"

    def chance(self, probability: float) -> bool:
        """True so often."""
        return bool(self.rng.random() < probability)

    def pick(self, choices: Sequence[Any]) -> Any:
        """One of them."""
        return choices[int(self.rng.integers(len(choices)))]

    def shuffled(self, count: int) -> tuple[int, ...]:
        """The numbers below `count` in a drawn order."""
        return tuple(int(i) for i in self.rng.permutation(count))

    def input(self, *shape: int) -> Tensor:
        """A new input of the network."""
        return self._known(self.net.input(self.name("x"), *shape), shape)

    def weight(self, *shape: int) -> Tensor:
        """A new weight, no op to choose later."""
        values = np.random.default_rng(self._count).standard_normal(shape) / np.sqrt(shape[0])
        return Tensor(self.net.weight(self.name("w"), values=values), shape)

    def op(
        self,
        kind: type[NamedOp],
        operands: Sequence[Tensor],
        result: Sequence[int],
        **attributes: Any,
    ) -> Tensor:
        """A new op whose result has this shape."""
        name = self.name(kind.name.partition(".")[2].lower())
        values = [operand.value for operand in operands]
        return self._known(self.net.op(kind, name, values, **attributes), tuple(result))

    def _known(self, value: SSAValue, shape: Shape) -> Tensor:
        tensor = Tensor(value, shape)
        self.tensors.append(tensor)
        return tensor

    # Movement

    def permute(self, x: Tensor, order: Sequence[int]) -> Tensor:
        return self.op(top.PermuteOp, [x], [x.shape[i] for i in order], order=order)

    def reshape(self, x: Tensor, shape: Sequence[int]) -> Tensor:
        assert prod(shape) == prod(x.shape)
        return self.op(top.ReshapeOp, [x], shape, shape=shape)

    def cut(self, x: Tensor, axis: int, begin: int, end: int) -> Tensor:
        none = Tensor(self.net.none, ())
        bounds = {"axes": [axis], "offset": [begin], "ends": [end], "steps": [1]}
        shape = (*x.shape[:axis], end - begin, *x.shape[axis + 1 :])
        return self.op(top.SliceOp, [x, none, none, none], shape, **bounds)

    def squeeze(self, x: Tensor, axis: int) -> Tensor:
        shape = x.shape[:axis] + x.shape[axis + 1 :]
        if self.chance(0.3):
            return self.reshape(x, shape)
        return self.op(top.SqueezeOp, [x], shape, axes=[axis])

    def split(self, x: Tensor, axis: int, count: int) -> list[Tensor]:
        """Equal parts along an axis, by one Split or by Slices in any order."""
        size = x.shape[axis] // count
        if self.chance(0.5):
            names = [self.name("part") for _ in range(count)]
            made = self.net.ops(top.SplitOp, names, [x.value], axis=axis, num=count)
            shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
            return [self._known(value, shape) for value in made]
        parts: dict[int, Tensor] = {}
        for index in self.shuffled(count):
            parts[index] = self.cut(x, axis, index * size, (index + 1) * size)
        return [parts[index] for index in range(count)]

    def rolled(self, x: Tensor, axis: int, by: int) -> Tensor:
        """Rotated along an axis, as shifted windows are."""
        size = x.shape[axis]
        parts = [self.cut(x, axis, by, size), self.cut(x, axis, 0, by)]
        return self.op(top.ConcatOp, parts, x.shape, axis=axis)

    # Arithmetic

    def product(self, left: Tensor, right: Tensor, **flags: bool) -> Tensor:
        columns = right.shape[-2] if flags.get("right_transpose") else right.shape[-1]
        rows = left.shape[-1] if flags.get("left_transpose") else left.shape[-2]
        batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
        none = Tensor(self.net.none, ())
        return self.op(top.MatMulOp, [left, right, none], (*batch, rows, columns), **flags)

    def linear(self, x: Tensor, columns: int) -> Tensor:
        """A product with a weight, mostly with a bias in one op or two."""
        bias = self.pick(("none", "inside", "added", "added"))
        none = Tensor(self.net.none, ())
        inside = self.weight(columns) if bias == "inside" else none
        shape = (*x.shape[:-1], columns)
        y = self.op(top.MatMulOp, [x, self.weight(x.shape[-1], columns), inside], shape)
        return self.add(y, self.weight(columns)) if bias == "added" else y

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        shape = np.broadcast_shapes(x.shape, y.shape)
        pair = [y, x] if self.chance(0.3) else [x, y]
        return self.op(top.AddOp, pair, shape)

    def scaled(self, x: Tensor) -> Tensor:
        """Times a constant, as an attribute or a weight of one element."""
        factor = self.pick((0.25, 0.5, 1.5))
        if self.chance(0.3):
            one = Tensor(self.net.weight(self.name("c"), values=[factor]), (1,))
            return self.op(top.MulOp, [x, one], x.shape)
        return self.op(top.MulConstOp, [x], x.shape, const_val=factor)

    def softmax(self, x: Tensor, axis: int) -> Tensor:
        return self.op(top.SoftmaxOp, [x], x.shape, axis=axis)

    def norm(self, x: Tensor) -> Tensor:
        columns = x.shape[-1]
        weights = [self.weight(columns), self.weight(columns)]
        attributes = {"axis": len(x.shape) - 1, "normalized_shape": [columns], "eps": 1e-5}
        return self.op(top.LayerNormOp, [x, *weights], x.shape, **attributes)

    def masked(self, x: Tensor) -> Tensor:
        """Plus (or times) a weight or an input that is broadcast along some dimensions."""
        drop = int(self.rng.integers(len(x.shape)))
        shape = tuple(1 if self.chance(0.4) else size for size in x.shape)[drop // 2 :]
        mask = self.weight(*shape) if self.chance(0.6) else self.input(*shape)
        if self.chance(0.15):
            return self.op(top.MulOp, [x, mask], x.shape)
        return self.add(x, mask)
