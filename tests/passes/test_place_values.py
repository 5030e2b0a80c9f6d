"""Values under other images and channels: the same numbers, and shapes that broadcast alike."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.passes.semantics import Net, assert_same_numbers, ops_of
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interfaces.lane_view import Lanes, lanes_of, row_shape, stretched_shapes
from xdsl_tpu.dialects.text import parse_module
from xdsl_tpu.passes.place_values import repeat
from xdsl_tpu.passes.place_values.changes import Changes
from xdsl_tpu.passes.place_values.choose import SureChooser
from xdsl_tpu.passes.place_values.components import Component
from xdsl_tpu.passes.place_values.rewrite import Rewriter
from xdsl_tpu.passes.tensors import functions, shape_of

PASSES = (
    'processor-assign{mode="F32" chip="bm1684x"},convert-top-to-tpu,place-values{chip="bm1684x"}'
)


def mlp(*shape: int) -> ModuleOp:
    """Two products of rows with a GELU between them, beside the rows themselves."""
    net = Net()
    x = net.input("x", 1, *shape)
    flat = net.op(top.ReshapeOp, "flat", (x,), shape=shape)
    up = net.op(top.MatMulOp, "up", (flat, net.weight("w1", shape[-1], 96), net.none))
    active = net.op(top.GELUOp, "active", (up,))
    down = net.op(top.MatMulOp, "down", (active, net.weight("w2", 96, shape[-1]), net.none))
    back = net.op(top.ReshapeOp, "back", (down,), shape=(1, *shape))
    return net.module(net.op(top.AddOp, "sum", (x, back)))


def test_products_of_rank_two_become_those_of_their_neighbours() -> None:
    after = assert_same_numbers(mlp(40, 24), PASSES)
    assert not ops_of(after, tpu.ReshapeOp)
    assert [shape_of(op.output) for op in ops_of(after, tpu.MatMulOp)] == [(1, 40, 96), (1, 40, 24)]


def test_a_weight_of_two_products_is_seen_in_two_ways() -> None:
    net = Net()
    x, w = net.input("x", 1, 40, 24), net.weight("w", 24, 24)
    flat = net.op(top.ReshapeOp, "flat", (x,), shape=(40, 24))
    one = net.op(top.MatMulOp, "one", (flat, w, net.none))
    two = net.op(top.MatMulOp, "two", (one, w, net.none))
    back = net.op(top.ReshapeOp, "back", (two,), shape=(1, 40, 24))
    assert_same_numbers(net.module(net.op(top.AddOp, "sum", (x, back))), PASSES)


def tokens(batch: int, channels: int, side: int, first: str = "image") -> ModuleOp:
    """An image whose pixels become rows, which also go to DDR, and an image again."""
    net = Net()
    image, rows = (batch, channels, side, side), (batch, side * side, channels)
    value = net.op(top.AbsOp, "made", (net.input("x", *image),))
    if first == "image":
        value = net.op(top.ReshapeOp, "flat", (value,), shape=(batch, channels, side * side))
        value = net.op(top.PermuteOp, "rows", (value,), order=[0, 2, 1])
    else:
        value = net.op(top.PermuteOp, "last", (value,), order=[0, 2, 3, 1])
        value = net.op(top.ReshapeOp, "rows", (value,), shape=rows)
    row = (net.weight("w", 1, 1, channels), net.none)
    sizes = {"axis": 2, "normalized_shape": [channels], "eps": 1e-5}
    value = net.op(top.LayerNormOp, "norm", (value, *row), **sizes)
    moved = net.op(top.PermuteOp, "moved", (value,), order=[1, 0, 2])
    value = net.op(top.PermuteOp, "back", (value,), order=[0, 2, 1])
    value = net.op(top.ReshapeOp, "image", (value,), shape=image)
    return net.module(net.op(top.SinOp, "y", (value,)), moved)


@pytest.mark.parametrize("first", ["image", "last"])
@pytest.mark.parametrize(
    ("channels", "side", "lanes"),
    [(16, 32, 256), (32, 32, 512), (64, 16, 256), (24, 16, 128)],
    ids=str,
)
def test_pixels_lie_over_the_lanes_in_long_runs(
    channels: int, side: int, lanes: int, first: str
) -> None:
    """Of 256 bytes in f32, between images whose channels are over the lanes."""
    after = assert_same_numbers(tokens(2, channels, side, first), PASSES)
    (norm,) = ops_of(after, tpu.LayerNormOp)
    assert lanes_of(shape_of(norm.output)) == (2, lanes)
    there, _, back = ops_of(after, tpu.PermuteOp)
    assert shape_of(there.output) == shape_of(norm.output) == shape_of(back.input)
    assert lanes_of(shape_of(there.input)) == lanes_of(shape_of(back.output)) == (2, channels)


@pytest.mark.parametrize("images", [1, 2])
def test_turned_matrices_of_several_images_are_images(images: int) -> None:
    """Of 3 heads each; the norm's rows lie over the lanes as those of all heads."""
    net = Net()
    value = net.op(top.AbsOp, "made", (net.input("x", images, 3, 96, 80),))
    rows = net.op(top.PermuteOp, "rows", (value,), order=[0, 1, 3, 2])
    row = (net.weight("w", 1, 1, 1, 96), net.none)
    value = net.op(top.LayerNormOp, "norm", (rows, *row), axis=-1, eps=1e-5, normalized_shape=[])
    after = assert_same_numbers(net.module(net.op(top.SinOp, "y", (value,))), PASSES)
    (permute,) = ops_of(after, tpu.PermuteOp)
    (norm,) = ops_of(after, tpu.LayerNormOp)
    assert lanes_of(shape_of(permute.input)) == (3 * images, 96)
    assert lanes_of(shape_of(norm.output)) == (3 * images, 80)


@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("mode", ["ReduceSum", "ReduceMax"])
def test_reductions_of_rows_follow_what_is_around_them(mode: str, keepdims: bool) -> None:
    """x / sum(x) of rank two, between products whose rows lie over the lanes."""
    net = Net()
    x = net.op(top.ReshapeOp, "flat", (net.input("x", 1, 96, 40),), shape=(96, 40))
    x = net.op(top.MatMulOp, "up", (x, net.weight("w1", 40, 64), net.none))
    row = net.op(top.ReduceOp, "row", (x,), axes=[1], keepdims=keepdims, mode=mode)
    row = net.op(top.ReshapeOp, "column", (row,), shape=(96, 1))
    y = net.op(top.SubOp, "apart", (x, row))
    y = net.op(top.MatMulOp, "down", (y, net.weight("w2", 64, 40), net.none))
    after = assert_same_numbers(net.module(net.op(top.SinOp, "y", (y,))), PASSES)
    (reduced,) = ops_of(after, tpu.ReduceOp)
    assert shape_of(reduced.input) == (1, 96, 64)
    assert shape_of(reduced.output) == (1, 96, 1)


@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize(
    ("shape", "seen"), [((256, 26, 16), (1, 256, 26, 16)), ((4, 128, 96), None)]
)
def test_what_lies_behind_each_other_is_reduced_in_its_row(
    shape: tuple[int, int, int], seen: tuple[int, ...] | None, keepdims: bool
) -> None:
    """Sums over fields of features, whose rows fill the lanes; few long rows stay as they are."""
    net = Net()
    x = net.op(top.SinOp, "made", (net.input("x", *shape),))
    x = net.op(top.ReduceOp, "sum", (x,), axes=[1], keepdims=keepdims, mode="ReduceSum")
    after = assert_same_numbers(net.module(net.op(top.SinOp, "y", (x,))), PASSES)
    (reduced,) = ops_of(after, tpu.ReduceOp)
    assert shape_of(reduced.input) == (seen or shape)
    assert len(shape_of(reduced.output)) == (4 if seen else 2 + keepdims)


@pytest.mark.parametrize("axis", [0, 1])
def test_rows_are_joined_where_they_are(axis: int) -> None:
    """Sines beside cosines of one point, between products; points behind points stay apart."""
    net = Net()
    x = net.op(top.MatMulOp, "angles", (net.input("x", 96, 40), net.weight("w1", 40, 64), net.none))
    parts = net.op(top.SinOp, "sin", (x,)), net.op(top.CosOp, "cos", (x,))
    y = net.op(top.ConcatOp, "joined", parts, axis=axis)
    weight = net.weight("w2", 128 if axis else 64, 40)
    y = net.op(top.MatMulOp, "down", (y, weight, net.none))
    after = assert_same_numbers(net.module(net.op(top.SinOp, "y", (y,))), PASSES)
    (joined,) = ops_of(after, tpu.ConcatOp)
    assert shape_of(joined.output) == ((1, 96, 128) if axis else (192, 64))


@pytest.mark.parametrize(("heads", "expected"), [(8, (8, 52, 196)), (1, (1, 52, 196))])
def test_keys_of_heads_are_joined_with_rows_over_the_lanes(
    heads: int, expected: tuple[int, ...]
) -> None:
    """Behind the numbers of each key there are some of its place, as attention of MViTv2 has it."""
    net = Net()
    x, depth = net.input("x", heads, 196, 24), 52
    normal = net.op(top.SoftmaxOp, "normal", (x,), axis=2)
    keys = net.op(top.PermuteOp, "turned", (normal,), order=[0, 2, 1])
    keys = net.op(top.ReshapeOp, "keys", (keys,), shape=[1, heads, 24, 196])
    places = net.weight("places", 1, heads, 28, 196)
    joined = net.op(top.ConcatOp, "joined", (keys, places), axis=2)
    queries = net.input("queries", 1, heads, 196, depth)
    scores = net.op(top.MatMulOp, "scores", (queries, joined, net.none))
    found = assert_same_numbers(net.module(net.op(top.SinOp, "y", (scores,))), PASSES)
    (op,) = ops_of(found, tpu.ConcatOp)
    assert shape_of(op.output) == expected


def test_values_that_become_a_row_are_not_seen_as_rows() -> None:
    """The largest of each channel, which a product reads beside each other."""
    net = Net()
    x = net.op(top.ReluOp, "made", (net.input("x", 1, 256, 512),))
    row = net.op(top.ReduceOp, "row", (x,), axes=[2], keepdims=False, mode="ReduceMax")
    y = net.op(top.MatMulOp, "down", (row, net.weight("w", 256, 40), net.none))
    after = assert_same_numbers(net.module(net.op(top.SinOp, "y", (y,))), PASSES)
    (reduced,) = ops_of(after, tpu.ReduceOp)
    assert shape_of(reduced.input) == (1, 256, 512)
    assert shape_of(reduced.output) == (1, 256)


@pytest.mark.parametrize(("shape", "kept"), [((1, 16, 64, 32), True), ((1, 16, 1, 2048), False)])
def test_images_keep_the_rows_that_a_group_can_be_cut_along(
    shape: tuple[int, ...], kept: bool
) -> None:
    """What is reshaped to more rows in the same lanes is not seen as it was before."""
    text = f"""
      func.func @main(%x: tensor<1x16x4x512xf16>) -> tensor<{"x".join(map(str, shape))}xf16> {{
        %0 = "tpu.Relu"(%x) : (tensor<1x16x4x512xf16>) -> tensor<1x16x4x512xf16> loc("a")
        %1 = "tpu.Reshape"(%0) {{shape = {list(shape)}}} : (tensor<1x16x4x512xf16>)
             -> tensor<{"x".join(map(str, shape))}xf16> loc("rows")
        %2 = "tpu.Active"(%1) {{mode = #tpu<active_mode ABSVAL>}} :
             (tensor<{"x".join(map(str, shape))}xf16>) -> tensor<{"x".join(map(str, shape))}xf16>
             loc("y")
        return %2 : tensor<{"x".join(map(str, shape))}xf16>
      }}"""
    module = parse_module(text)
    (func,) = functions(module)
    values = [op.results[0] for op in func.body.block.ops if op.results]
    Rewriter(func.body.block, dict.fromkeys(values, Lanes(1, 16)), None).run()
    module.verify()
    (active,) = ops_of(module, tpu.ActiveOp)
    assert (shape_of(active.output) == shape) == kept


def test_a_permute_of_other_dimensions_stays() -> None:
    net = Net()
    value = net.op(top.AbsOp, "made", (net.input("x", 2, 3, 16, 16),))
    value = net.op(top.PermuteOp, "turned", (value,), order=[0, 2, 1, 3])
    value = net.op(top.MatMulOp, "product", (value, net.weight("w", 16, 16), net.none))
    (permute,) = ops_of(assert_same_numbers(net.module(value), PASSES), tpu.PermuteOp)
    assert shape_of(permute.output) == (2, 16, 3, 16)


@pytest.mark.parametrize("axis", [3, 2])
def test_softmax_of_heads(axis: int) -> None:
    """Over the last dimension as one tensor of rows; over another one it stays."""
    net = Net()
    q, k = net.input("q", 2, 3, 20, 16), net.input("k", 2, 3, 16, 30)
    scores = net.op(top.MatMulOp, "scores", (q, k, net.none))
    scaled = net.op(top.MulConstOp, "scaled", (scores,), const_val=0.25)
    module = net.module(net.op(top.SoftmaxOp, "probable", (scaled,), axis=axis))
    (softmax,) = ops_of(assert_same_numbers(module, PASSES), tpu.SoftmaxOp)
    assert shape_of(softmax.output) == ((6, 20, 30) if axis == 3 else (2, 3, 20, 30))


def test_rows_that_do_not_divide_are_refused() -> None:
    assert row_shape((2, 3, 20), Lanes(1, 6), 20) == (1, 6, 20)
    assert row_shape((2, 3, 20), Lanes(2, 3), 10) == (2, 3, 2, 10)
    assert row_shape((2, 3, 20), Lanes(1, 4), 20) is None


SIZES = st.lists(st.sampled_from([1, 2, 3, 4, 6]), min_size=1, max_size=5)


@given(SIZES, st.data())
def test_views_broadcast_as_the_whole_does(whole: list[int], data: st.DataObject) -> None:
    total = math.prod(whole)
    images = data.draw(st.sampled_from([d for d in range(1, total + 1) if total % d == 0]))
    rest = total // images
    channels = data.draw(st.sampled_from([d for d in range(1, rest + 1) if rest % d == 0]))
    shapes = [
        tuple(
            data.draw(st.sampled_from([1, size])) for size in whole[data.draw(st.integers(0, 1)) :]
        )
        for _ in range(2)
    ]
    views = stretched_shapes([*shapes, tuple(whole)], tuple(whole), Lanes(images, channels))
    if views is None:
        return
    assert views[-1][:2] == (images, channels)
    assert len(views[-1]) <= 4
    arrays = [np.arange(math.prod(shape), dtype=float) for shape in shapes]
    plain = sum(
        (10.0**i * a.reshape(s) for i, (a, s) in enumerate(zip(arrays, shapes, strict=True))),
        np.zeros(whole),
    )
    seen = sum(
        (10.0**i * a.reshape(v) for i, (a, v) in enumerate(zip(arrays, views, strict=False))),
        np.zeros(views[-1]),
    )
    np.testing.assert_array_equal(seen.reshape(-1), plain.reshape(-1))


@pytest.mark.parametrize(("rows", "lanes"), [(1280, 64), (1200, 60), (1201, 1)])
def test_vectors_are_spread_evenly(rows: int, lanes: int) -> None:
    """A number a row would be one in a lane: no transfer moves so short runs well."""
    net = Net()
    x, table = net.input("x", rows), net.input("table", rows, 32)
    share = net.op(top.MulConstOp, "scaled", (net.op(top.AbsOp, "a", (x,)),), const_val=0.25)
    column = net.op(top.ReshapeOp, "column", (share,), shape=(rows, 1))
    module = net.module(net.op(top.MulOp, "y", (table, column)))
    after = assert_same_numbers(module, PASSES)
    if lanes > 1:
        (product,) = ops_of(after, tpu.MulOp)
        assert shape_of(product.output) == (1, lanes, rows // lanes, 32)
        (scaled,) = ops_of(after, tpu.MulConstOp)
        assert shape_of(scaled.output)[:2] == (1, lanes)


@pytest.mark.parametrize("rows", [32, 21])
def test_a_product_of_heads_between_images_has_lanes_of_its_own(rows: int) -> None:
    """Where values may change their lanes in local memory, its rows are channels."""
    net = Net()
    x, scores = net.input("x", 1, 16, 6, 6), net.input("scores", 1, 4, 36, 36)
    none, sizes = net.none, {"kernel_shape": [1, 1], "strides": [1, 1], "pads": [0] * 4}
    filters = net.weight("f", 4 * rows, 16, 1, 1), net.weight("g", 16, 4 * rows, 1, 1)
    image = net.op(top.ConvOp, "up", (x, filters[0], none), **sizes)
    heads = net.op(top.ReshapeOp, "heads", (image,), shape=(1, 4, rows, 36))
    value = net.op(top.MatMulOp, "product", (heads, scores, none))
    value = net.op(top.ReshapeOp, "image", (value,), shape=(1, 4 * rows, 6, 6))
    value = net.op(top.AddOp, "sum", (value, image))
    module = net.module(net.op(top.ConvOp, "down", (value, filters[1], none), **sizes))
    after = assert_same_numbers(module, f'{PASSES[:-1]} in_lanes="true"}}')
    (product,) = ops_of(after, tpu.MatMulOp)
    assert shape_of(product.output) == (4, rows, 36)


def first_choice(_: SureChooser, __: Component, chosen: Lanes | None) -> Lanes | None:
    """Nothing is looked at again."""
    return chosen


@pytest.mark.parametrize("measured", [True, False])
def test_many_passes_want_full_lanes(measured: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 256 sequences of 4 tokens, whose products see them one by one: Softmax and GELU take many
    passes, so that all tokens lie over all lanes, and the products change them."""
    if not measured:
        monkeypatch.setattr(SureChooser, "better", first_choice)
    net = Net()
    value = net.input("x", 256, 4, 128)
    for number in range(2):
        turned = net.op(top.PermuteOp, f"turned{number}", (value,), order=[0, 2, 1])
        scores = net.op(top.MatMulOp, f"scores{number}", (value, turned, net.none))
        scores = net.op(top.SoftmaxOp, f"softmax{number}", (scores,), axis=2)
        value = net.op(top.MatMulOp, f"mixed{number}", (scores, value, net.none))
    value = net.op(top.MatMulOp, "wide", (value, net.weight("w", 128, 512), net.none))
    value = net.op(top.GELUOp, "active", (value,))
    after = assert_same_numbers(net.module(value), f'{PASSES[:-1]} in_lanes="true"}}')
    (active,) = ops_of(after, tpu.ActiveOp)
    assert lanes_of(shape_of(active.output)) == (Lanes(1, 1024) if measured else Lanes(256, 4))


@pytest.mark.parametrize(("rows", "mixed"), [(16, True), (32, True), (33, False), (64, False)])
def test_between_windows_products_fill_the_lanes(rows: int, mixed: bool) -> None:
    """Scores of windows have a window an image; what works row by row behind them has all rows over
    all lanes where windows leave half of these empty, and they are stored in between."""
    windows, width = 1024 // rows, 96
    net = Net()
    value = net.input("x", windows, rows, width)
    turned = net.op(top.PermuteOp, "turned", (value,), order=[0, 2, 1])
    scores = net.op(top.MatMulOp, "scores", (value, turned, net.none))
    scores = net.op(top.SoftmaxOp, "softmax", (scores,), axis=2)
    value = net.op(top.MatMulOp, "attended", (scores, value, net.none))
    for number in range(3):
        up, down = (net.weight(f"w{number}{n}", *s) for n, s in enumerate([(96, 384), (384, 96)]))
        wide = net.op(top.MatMulOp, f"up{number}", (value, up, net.none))
        wide = net.op(top.GELUOp, f"active{number}", (wide,))
        value = net.op(top.MatMulOp, f"down{number}", (wide, down, net.none))
    after = assert_same_numbers(net.module(value), PASSES)
    lanes = {lanes_of(shape_of(op.output)) for op in ops_of(after, tpu.ActiveOp)}
    scores_lanes = lanes_of(shape_of(ops_of(after, tpu.SoftmaxOp)[0].output))
    assert scores_lanes == Lanes(windows, rows)
    assert lanes == {Lanes(1, windows * rows) if mixed else Lanes(windows, rows)}


def test_lanes_that_stay_empty_make_changes_dear() -> None:
    """A change of 384 images of 7 channels takes as many passes as images; that of as many numbers
    in 8 images of 128 channels takes few."""
    chip = load_chip()
    changes = Changes(chip, in_lanes=True)
    module = parse_module("""
      func.func @main(%x: tensor<8x128x18xf16>, %y: tensor<384x7x7xf16>) {
        return
      }""")
    (func,) = functions(module)
    full, empty = func.body.block.args
    assert changes.price(full, Lanes(8, 128), Lanes(1, 1024)) < changes.transfer(full) / 4
    assert changes.is_local(empty, Lanes(384, 7), Lanes(1, 64))
    assert changes.price(empty, Lanes(384, 7), Lanes(1, 64)) == changes.transfer(empty)
    assert not Changes(chip).is_local(full, Lanes(8, 128), Lanes(1, 1024))


@pytest.mark.parametrize(
    ("channels", "ops", "lanes"),
    [(16, 2, (1, 64)), (32, 2, (1, 64)), (33, 2, (8, 33)), (16, 1, (8, 16))],
)
def test_images_of_few_channels_lie_over_all_lanes(
    channels: int, ops: int, lanes: tuple[int, int]
) -> None:
    """Where they would leave half of these empty; an op by itself sees them as it likes."""
    net = Net()
    value = net.input("x", 8, channels, 16, 16)
    for number in range(ops):
        value = net.op(top.AbsOp, f"abs{number}", (value,))
    after = assert_same_numbers(net.module(value), PASSES)
    found = {lanes_of(shape_of(op.output)) for op in ops_of(after, tpu.ActiveOp)}
    assert found == {Lanes(*lanes)}


@pytest.mark.parametrize(
    ("shape", "repeated"),
    [
        ((1, 4, 49, 49), (64, 49, 49)),
        ((16, 1, 49, 49), (64, 49, 49)),
        ((1, 4, 1, 49), (64, 1, 49)),
        ((1, 1, 49, 49), (1, 49, 49)),
        ((16, 4, 49, 49), (64, 49, 49)),
    ],
)
def test_weights_of_heads_or_windows_are_those_of_all_products(
    shape: tuple[int, ...], repeated: tuple[int, ...]
) -> None:
    """As products see their scores; what all of them have in common is there once."""
    net = Net()
    q, v = net.input("q", 16, 4, 49, 32), net.input("v", 16, 4, 49, 32)
    k = net.input("k", 16, 4, 32, 49)
    scores = net.op(top.MatMulOp, "scores", (q, k, net.none))
    scores = net.op(top.AddOp, "sum", (scores, net.weight("bias", *shape)))
    scores = net.op(top.SoftmaxOp, "softmax", (scores,), axis=3)
    module = net.module(net.op(top.MatMulOp, "mixed", (scores, v, net.none)))
    after = assert_same_numbers(module, f'{PASSES[:-1]} in_lanes="true"}}')
    (added,) = ops_of(after, tpu.AddOp)
    assert shape_of(added.output) == (64, 49, 49)
    assert shape_of(added.inputs[1]) == repeated


def test_a_weight_of_two_sums_is_repeated_for_one() -> None:
    """The other one reads it as it was."""
    net = Net()
    q, k = net.input("q", 16, 4, 49, 32), net.input("k", 16, 4, 32, 49)
    other, bias = net.input("other", 1, 4, 49, 49), net.weight("bias", 1, 4, 49, 49)
    scores = net.op(top.MatMulOp, "scores", (q, k, net.none))
    scores = net.op(top.AddOp, "sum", (scores, bias))
    scores = net.op(top.SoftmaxOp, "softmax", (scores,), axis=3)
    alone = net.op(top.AddOp, "alone", (other, bias))
    after = assert_same_numbers(net.module(scores, alone), f'{PASSES[:-1]} in_lanes="true"}}')
    sizes = sorted(math.prod(shape_of(op.inputs[1])) for op in ops_of(after, tpu.AddOp))
    assert sizes == [4 * 49 * 49, 64 * 49 * 49]


def test_repeated_weights_must_be_worth_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where loading them counts for more than what they save they stay as they are."""
    monkeypatch.setattr(repeat, "TIMES", 100)
    net = Net()
    q, k = net.input("q", 16, 4, 49, 32), net.input("k", 16, 4, 32, 49)
    scores = net.op(top.MatMulOp, "scores", (q, k, net.none))
    scores = net.op(top.AddOp, "sum", (scores, net.weight("bias", 1, 4, 49, 49)))
    module = net.module(net.op(top.SoftmaxOp, "softmax", (scores,), axis=3))
    after = assert_same_numbers(module, f'{PASSES[:-1]} in_lanes="true"}}')
    (added,) = ops_of(after, tpu.AddOp)
    assert math.prod(shape_of(added.inputs[1])) == 4 * 49 * 49


@pytest.mark.parametrize(("shape", "seen"), [((96, 20, 24), True), ((20, 96, 24), False)], ids=str)
def test_rows_of_many_images_are_reduced_in_their_lanes(
    shape: tuple[int, int, int], seen: bool
) -> None:
    """As points of a pillar are, where their maximum is moved in any case; images of many channels
    fill the lanes as they stand."""
    images, rows, columns = shape
    net = Net()
    x = net.input("x", images, rows, 9)
    product = net.op(top.MatMulOp, "mm", (x, net.weight("w", 9, columns), net.none))
    best = net.op(top.ReduceOp, "best", (product,), axes=[1], keepdims=False, mode="ReduceMax")
    end = net.op(top.PermuteOp, "end", (best,), order=(1, 0))
    passes = PASSES.replace("F32", "F16")
    after = assert_same_numbers(net.module(end), passes, tolerance=4e-3)
    (made,) = ops_of(after, tpu.ReduceOp)
    assert isinstance(made, tpu.ReduceOp)
    assert (lanes_of(shape_of(made.input)) == Lanes(1, images)) == seen
