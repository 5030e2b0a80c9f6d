"""Rotary embeddings in the spellings of vision networks: one op, with the same numbers."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.tensors import shape_of

CANONICALIZE = "canonicalize"
HEADS, TOKENS, SIZE = 2, 6, 8


def part(net: Net, x: SSAValue, name: str, axis: int, cut: tuple[int, int, int]) -> SSAValue:
    """Elements first, end and step along an axis of (1, heads, tokens, size)."""
    shape = [1, HEADS, TOKENS, SIZE]
    first, end, step = cut
    options = {
        "offset": [first if a == axis else 0 for a in range(4)],
        "ends": [end if a == axis else 1 << 30 for a in range(4)],
        "steps": [step if a == axis else 1 for a in range(4)],
    }
    assert len(shape) == 4
    return net.op(top.SliceOp, name, (x, net.none, net.none, net.none), axes=[], **options)


def turned(net: Net, x: SSAValue, paired: bool, tokens: int, sign: float = -1.0) -> SSAValue:
    cuts = ((1, SIZE, 2), (0, SIZE, 2)) if paired else ((SIZE // 2, SIZE, 1), (0, SIZE // 2, 1))
    odd, even = (part(net, x, name, 3, cut) for name, cut in zip("oe", cuts, strict=True))
    odd = net.op(top.MulConstOp, "negative", (odd,), const_val=sign)
    if not paired:
        return net.op(top.ConcatOp, "turned", (odd, even), axis=3)
    both = [net.op(top.UnsqueezeOp, f"u{i}", (v,), axes=[4]) for i, v in enumerate((odd, even))]
    pairs = net.op(top.ConcatOp, "pairs", both, axis=4)
    return net.op(top.ReshapeOp, "turned", (pairs,), shape=[1, HEADS, tokens, SIZE])


def rotated(net: Net, x: SSAValue, paired: bool, tokens: int, sign: float = -1.0) -> SSAValue:
    cosine, sine = (net.weight(name, 1, 1, tokens, SIZE) for name in ("cos", "sin"))
    return joined(net, x, (cosine, sine), turned(net, x, paired, tokens, sign))


def joined(
    net: Net, x: SSAValue, angles: tuple[SSAValue, SSAValue], other_way: SSAValue
) -> SSAValue:
    cosine, sine = angles
    straight = net.op(top.MulOp, "straight", (x, cosine))
    other = net.op(top.MulOp, "other", (other_way, sine))
    return net.op(top.AddOp, "y", (straight, other))


@pytest.mark.parametrize("paired", [True, False])
def test_all_tokens(paired: bool) -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 1, HEADS, TOKENS, SIZE),))
    after = assert_same_numbers(net.module(rotated(net, x, paired, TOKENS)), CANONICALIZE)
    assert kinds(after) == ["Abs", "Permute", "Rope", "Permute"]


def unbound(net: Net, x: SSAValue, paired: bool, swapped: bool = False) -> SSAValue:
    """Turned by way of an axis for the two elements of a pair, or the two halves."""
    axis = 4 if paired else 3
    split = [1, HEADS, TOKENS, SIZE // 2, 2] if paired else [1, HEADS, TOKENS, 2, SIZE // 2]
    apart = net.op(top.ReshapeOp, "split", (x,), shape=split)
    parts: list[SSAValue] = []
    for name, first in (("first", 0), ("second", 1)):
        options = {
            "offset": [first if a == axis else 0 for a in range(5)],
            "ends": [first + 1 if a == axis else 1 << 30 for a in range(5)],
            "steps": [1] * 5,
        }
        one = net.op(top.SliceOp, name, (apart, net.none, net.none, net.none), axes=[], **options)
        parts.append(net.op(top.SqueezeOp, f"{name}_s", (one,), axes=[axis]))
    even, odd = reversed(parts) if swapped else parts
    negative = net.op(top.MulConstOp, "negative", (odd,), const_val=-1.0)
    ends = [
        net.op(top.UnsqueezeOp, f"u{i}", (v,), axes=[axis]) for i, v in enumerate((negative, even))
    ]
    both = net.op(top.ConcatOp, "both", ends, axis=axis)
    return net.op(top.ReshapeOp, "turned", (both,), shape=[1, HEADS, TOKENS, SIZE])


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("paired", [True, False])
def test_pairs_and_halves_with_an_axis_of_their_own(paired: bool, swapped: bool) -> None:
    """The other one of each pair negated is no rotation by these angles."""
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 1, HEADS, TOKENS, SIZE),))
    angles = net.weight("cos", 1, 1, TOKENS, SIZE), net.weight("sin", 1, 1, TOKENS, SIZE)
    module = net.module(joined(net, x, angles, unbound(net, x, paired, swapped)))
    after = assert_same_numbers(module, CANONICALIZE)
    modes = [rope.rope_mode.data for rope in ops_of(after, top.RopeOp)]
    assert modes == ([] if swapped else ["interleaved_pairs" if paired else "contiguous_halves"])


def computed(batch: int, angles: int) -> ModuleOp:
    """Halves of rows turned by angles that are computed of an input."""
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", batch, HEADS, TOKENS, SIZE),))
    given = net.input("p", angles, 1, TOKENS, SIZE)
    cosine, sine = (net.op(kind, kind.name, (given,)) for kind in (top.CosOp, top.SinOp))
    return net.module(joined(net, x, (cosine, sine), turned(net, x, False, TOKENS)))


@pytest.mark.parametrize("batch", [1, 2])
def test_angles_that_are_computed(batch: int) -> None:
    after = assert_same_numbers(computed(batch, batch), CANONICALIZE)
    (rope,) = ops_of(after, top.RopeOp)
    assert shape_of(rope.input2) == shape_of(rope.input3) == (batch, TOKENS, 1, SIZE)
    assert not ops_of(after, top.AddOp)


def test_one_batch_of_computed_angles_for_two_stays() -> None:
    after = assert_same_numbers(computed(2, 1), CANONICALIZE)
    assert not ops_of(after, top.RopeOp)


@pytest.mark.parametrize("paired", [True, False])
def test_a_token_that_goes_past(paired: bool) -> None:
    net = Net()
    whole = net.op(top.AbsOp, "a", (net.input("x", 1, HEADS, TOKENS, SIZE),))
    first = part(net, whole, "first", 2, (0, 1, 1))
    rest = part(net, whole, "rest", 2, (1, TOKENS, 1))
    y = rotated(net, rest, paired, TOKENS - 1)
    module = net.module(net.op(top.ConcatOp, "z", (first, y), axis=2))
    after = assert_same_numbers(module, CANONICALIZE)
    (rope,) = ops_of(after, top.RopeOp)
    assert shape_of(rope.output) == (1, TOKENS, HEADS, SIZE)
    assert not ops_of(after, top.ConcatOp)


def test_what_turns_the_other_way_stays() -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 1, HEADS, TOKENS, SIZE),))
    after = assert_same_numbers(net.module(rotated(net, x, True, TOKENS, 1.5)), CANONICALIZE)
    assert not ops_of(after, top.RopeOp)


def halves_rotated(
    net: Net, x: SSAValue, paired: bool, angles: tuple[SSAValue, SSAValue], turns: bool = True
) -> SSAValue:
    """Both parts of each row rotated by themselves, and put together."""
    cuts = ((0, SIZE, 2), (1, SIZE, 2)) if paired else ((0, SIZE // 2, 1), (SIZE // 2, SIZE, 1))
    one, two = (part(net, x, name, 3, cut) for name, cut in zip("pq", cuts, strict=True))
    names = iter("cdef")

    def times(value: SSAValue, number: int) -> SSAValue:
        return net.op(top.MulOp, next(names), (value, angles[number]))

    less = net.op(top.SubOp, "less", (times(one, 0), times(two, 1)))
    more = net.op(top.AddOp, "more", (times(one, 1), times(two, 0 if turns else 1)))
    if not paired:
        return net.op(top.ConcatOp, "y", (less, more), axis=3)
    both = [net.op(top.UnsqueezeOp, f"u{i}", (v,), axes=[4]) for i, v in enumerate((less, more))]
    pairs = net.op(top.ConcatOp, "pairs", both, axis=4)
    return net.op(top.ReshapeOp, "y", (pairs,), shape=[1, HEADS, TOKENS, SIZE])


@pytest.mark.parametrize("paired", [True, False])
def test_parts_that_are_rotated_by_themselves(paired: bool) -> None:
    """As Llama was first written (complex numbers), or GPT-J with halves."""
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 1, HEADS, TOKENS, SIZE),))
    angles = (net.weight("cos", 1, 1, TOKENS, SIZE // 2), net.weight("sin", TOKENS, SIZE // 2))
    after = assert_same_numbers(net.module(halves_rotated(net, x, paired, angles)), CANONICALIZE)
    assert kinds(after) == ["Abs", "Permute", "Rope", "Permute"]


@pytest.mark.parametrize("paired", [True, False])
def test_parts_that_are_no_rotation_stay(paired: bool) -> None:
    """Sines where cosines should be; and angles of each head."""
    for shape, turns in (((TOKENS, SIZE // 2), False), ((HEADS, TOKENS, SIZE // 2), True)):
        net = Net()
        x = net.op(top.AbsOp, "a", (net.input("x", 1, HEADS, TOKENS, SIZE),))
        angles = (net.weight("cos", 1, *shape), net.weight("sin", 1, *shape))
        module = net.module(halves_rotated(net, x, paired, angles, turns))
        assert not ops_of(assert_same_numbers(module, CANONICALIZE), top.RopeOp)
