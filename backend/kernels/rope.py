"""`tpu.Rope`: pairs of elements of every head turned by the angle of the token's position.

x * cosine + rotated(x) * sine, every product and the sum rounded to the element type. The two
elements of a pair lie side by side or half a head apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.support import DdrValue, KernelContext, pipelined, where
from xdsl_tpu.backend.kernels.tiling import Piece, cut, steps_of
from xdsl_tpu.backend.kernels.transfer import fetch, put
from xdsl_tpu.backend.tensor import (
    GlobalTensor,
    LocalTensor,
    Shape4,
    aligned,
    aligned_bytes,
    contiguous,
    strided,
)
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit, NoKernel
from xdsl_tpu.dialects.tpu import RopeMode

MOST_TILES = 4
"""Tiles that work is cut into where it could be done in fewer: so loads and stores overlap."""


def rope(context: KernelContext, op: Operation) -> None:
    """x [.., tokens, heads, size], sine and cosine [.., tokens, 1, size].

    Raises NoKernel for other shapes and for `force_f32`.
    """
    assert isinstance(op, tpu.RopeOp)
    x, sine, cosine, out = (context.value(v) for v in (op.input1, op.input2, op.input3, op.output))
    *_, heads, size = (1, *x.shape)
    tokens = x.elements // (heads * size)
    fits = all(one.elements == tokens * size for one in (sine, cosine))
    if not fits or size % 2 or op.force_f32.value.data:
        raise NoKernel(f"{where(op)}: sine {sine.shape} and cosine {cosine.shape} for {x.shape}")
    paired = op.rope_mode.data is RopeMode.interleaved_pairs
    _Layer(context, _Problem(x, sine, cosine, out, tokens, heads, size, paired)).run()


def rotate(
    e: Emitter, tensors: Sequence[LocalTensor], spare: Sequence[LocalTensor], paired: bool
) -> None:
    """out, x, sine and cosine in local memory, of which the angles may be stretched; two tensors
    like `out` to spare."""
    out, x, sine, cosine = tensors
    straight, turned = spare

    def half(tensor: LocalTensor, which: int) -> LocalTensor:
        """The first or second elements of all pairs."""
        n, c, h, w = tensor.shape
        by_n, by_c, by_h, _ = tensor.strides
        step, first = (2, which) if paired else (1, which * w // 2)
        strides = (by_n, by_c, by_h, step)
        return strided(tensor.at(w=first), (n, c, h, w // 2), strides, tensor.dtype)

    e.arith(Arith.MUL, straight, x, cosine)
    for which, kind in ((0, Arith.SUB), (1, Arith.ADD)):
        here = half(turned, which)
        e.arith(Arith.MUL, here, half(x, 1 - which), half(sine, which))
        e.arith(kind, half(out, which), half(straight, which), here)


@dataclass(frozen=True, slots=True)
class _Problem:
    """`paired`: the elements of a pair are neighbours."""

    x: DdrValue
    sine: DdrValue
    cosine: DdrValue
    out: DdrValue
    tokens: int
    heads: int
    size: int
    paired: bool

    @property
    def by_heads(self) -> bool:
        """Whether heads lie on the lanes, and the tokens' angles are repeated there."""
        return self.tokens < self.heads


class _Layer:
    """Two buffers of every tensor, and the stages of the pipeline over tokens."""

    def __init__(self, context: KernelContext, problem: _Problem) -> None:
        self.e, self.chip, self.p = context.emitter, context.chip, problem
        memory = context.memory()
        step = self._step(memory.left)
        self._tiles = cut(problem.tokens, step)
        wide, narrow = self._sizes(step)
        self._x, self._out = ([memory.take(wide) for _ in range(2)] for _ in range(2))
        self._sine, self._cosine = ([memory.take(narrow) for _ in range(2)] for _ in range(2))
        self._straight, self._turned = memory.take(wide), memory.take(wide)

    def _step(self, room: int) -> int:
        """Tokens of a tile."""
        unit = 1 if self.p.by_heads else self.chip.lanes
        for step in steps_of(self.p.tokens, unit):
            wide, narrow = self._sizes(step)
            few = step * MOST_TILES <= self.p.tokens or step <= unit
            if few and 6 * wide + 4 * narrow <= room:
                return step
        raise DoesNotFit(f"{self.p.heads} heads of {self.p.size} elements do not fit")

    def _sizes(self, tokens: int) -> tuple[int, int]:
        """Bytes of a lane for the heads of some tokens, and for their angles."""
        piece = Piece(0, tokens)
        shapes = self._shape(piece), self._angles(piece)
        return aligned_bytes(self.chip, shapes[0], self.p.x.dtype), aligned_bytes(
            self.chip, shapes[1], self.p.x.dtype
        )

    def _shape(self, tokens: Piece) -> Shape4:
        if self.p.by_heads:
            return tokens.size, self.p.heads, 1, self.p.size
        return 1, tokens.size, self.p.heads, self.p.size

    def _angles(self, tokens: Piece) -> Shape4:
        if self.p.by_heads:
            return tokens.size, min(self.chip.lanes, self.p.heads), 1, self.p.size
        return 1, tokens.size, 1, self.p.size

    def run(self) -> None:
        """Emit all tiles."""
        pipelined(self._tiles, self._load, self._compute, self._store)

    def _ddr(self, value: DdrValue, tokens: Piece, shape: Shape4) -> GlobalTensor:
        by_token = value.elements // self.p.tokens
        start = value.address + tokens.start * by_token * value.dtype.bytes
        return contiguous(start, shape, value.dtype)

    def _load(self, tokens: Piece, slot: int) -> None:
        shape = self._shape(tokens)
        x = aligned(self.chip, self._x[slot], shape, self.p.x.dtype)
        fetch(self.e, x, self._ddr(self.p.x, tokens, shape))
        for value, places in ((self.p.sine, self._sine), (self.p.cosine, self._cosine)):
            shape = self._angles(tokens)
            target = aligned(self.chip, places[slot], shape, value.dtype)
            if self.p.by_heads:
                self.e.load_broadcast(target, self._ddr(value, tokens, (shape[0], 1, 1, shape[3])))
            else:
                fetch(self.e, target, self._ddr(value, tokens, shape))

    def _compute(self, tokens: Piece, slot: int) -> None:
        shape, dtype = self._shape(tokens), self.p.x.dtype
        x, out, straight, turned = (
            aligned(self.chip, place, shape, dtype)
            for place in (self._x[slot], self._out[slot], self._straight, self._turned)
        )
        sine, cosine = (
            aligned(self.chip, places[slot], self._angles(tokens), dtype)
            for places in (self._sine, self._cosine)
        )
        rotate(self.e, (out, x, sine, cosine), (straight, turned), self.p.paired)

    def _store(self, tokens: Piece, slot: int) -> None:
        shape = self._shape(tokens)
        out = aligned(self.chip, self._out[slot], shape, self.p.out.dtype)
        put(self.e, self._ddr(self.p.out, tokens, shape), out)
