"""One small use of every top op that the lowering claims to handle."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp, NoneType, StringAttr, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.utils.hints import isa

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.interfaces.shape import ShapeInference, constants_from
from xdsl_tpu.dialects.weights import WEIGHT_FILE, Weights, attach

Array = npt.NDArray[Any]


def normal(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def positive(*shape: int) -> Array:
    return np.abs(normal(*shape)) + np.float32(0.5)


def inside(*shape: int) -> Array:
    """Numbers between -0.9 and 0.9."""
    return np.tanh(normal(*shape)) * np.float32(0.9)


def indices(*values: int) -> Array:
    return np.array(values, np.float32)


@dataclass(frozen=True)
class X:
    """An operand that is an input of the network."""

    array: Array


@dataclass(frozen=True)
class W:
    """An operand that is a weight."""

    array: Array


Operand = X | W | None


@dataclass(frozen=True)
class Sample:
    """One op with its operands; `results` of None are those of type none."""

    op: type[NamedOp]
    operands: Sequence[Operand]
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    results: int = 1

    def __str__(self) -> str:
        return self.op.name.removeprefix("top.")


def unary(op: type[NamedOp], make: Callable[..., Array] = normal, **attributes: Any) -> Sample:
    return Sample(op, [X(make(2, 3, 4, 5))], attributes)


def binary(op: type[NamedOp], **attributes: Any) -> list[Sample]:
    """On two inputs of one shape, with broadcasting, and with a weight."""
    x, y, w = positive(2, 3, 4, 5), positive(2, 3, 4, 6)[..., 1:], positive(1, 3, 1, 5)
    return [Sample(op, [X(x), other], attributes) for other in (X(y), X(w), W(w))]


POOL: dict[str, Any] = {"kernel_shape": (3, 3), "strides": (2, 2), "pads": (1, 1, 1, 1)}
FAR_POOL: dict[str, Any] = {"kernel_shape": (5, 2), "strides": (2, 2), "pads": (1, 1, 1, 1)}
CONV: dict[str, Any] = {**POOL, "dilations": (1, 1)}
LINE: dict[str, Any] = {"kernel_shape": (3,), "strides": (2,), "pads": (1, 1)}
CUBE: dict[str, Any] = {"kernel_shape": (2, 2, 2), "strides": (1, 1, 1), "pads": (0,) * 6}

CONVOLUTIONS = [
    Sample(top.ConvOp, [X(normal(1, 4, 9, 9)), W(normal(6, 4, 3, 3)), W(normal(6))], CONV),
    Sample(top.ConvOp, [X(normal(1, 4, 9, 9)), W(normal(6, 4, 3, 3)), None], CONV),
    Sample(
        top.ConvOp,
        [X(normal(1, 4, 9, 9)), W(normal(4, 1, 3, 3)), W(normal(4))],
        CONV | {"group": 4},
    ),
    Sample(top.ConvOp, [X(normal(1, 2, 4, 5, 5)), W(normal(3, 2, 2, 2, 2)), W(normal(3))], CUBE),
    Sample(top.DeconvOp, [X(normal(1, 4, 5, 5)), W(normal(3, 4, 3, 3)), W(normal(3))], CONV),
    Sample(
        top.ConvOp,
        [X(normal(2, 4, 75, 44)), W(normal(6, 2, 3, 3)), W(normal(6))],
        CONV | {"group": 2, "dilations": (34, 19), "pads": (20, 19, 3, 40), "strides": (2, 3)},
    ),
    Sample(
        top.ConvOp,
        [X(normal(1, 4, 9, 9)), W(normal(6, 4, 3, 3)), None],
        CONV | {"dilations": (17, 18), "pads": (17, 18, 17, 36)},
    ),
    Sample(
        top.ConvOp,
        [X(normal(1, 3, 90)), W(normal(5, 3, 3)), W(normal(5))],
        {
            "kernel_shape": (3,),
            "strides": (1,),
            "pads": (50, 0),
            "dilations": (37,),
            "group": 1,
        },
    ),
    *(
        Sample(
            top.ConvOp,
            [X(normal(1, 4, *line)), W(normal(4, 4 // group, *kernel)), W(normal(4))],
            {
                "kernel_shape": kernel,
                "strides": tuple(stride for _ in line),
                "pads": pads,
                "dilations": dilations,
                "group": group,
                "do_relu": True,
            },
        )
        for line, kernel, stride, pads, dilations, group in (
            ((96,), (2,), 1, (32, 0), (32,), 1),
            ((100,), (3,), 1, (34, 34), (34,), 4),
            ((1, 70), (1, 3), 1, (0, 18, 0, 18), (1, 18), 2),
            ((70, 1), (3, 1), 1, (36, 0, 5, 0), (18, 1), 1),
            ((80,), (5,), 1, (32, 0), (8,), 1),
            ((90,), (3,), 2, (40, 0), (20,), 1),
        )
    ),
    Sample(
        top.ConvOp,
        [X(normal(1, 4, 9, 9)), X(normal(6, 4, 3, 3)), X(normal(6))],
        CONV | {"pads": (17, 1, 2, 20), "do_relu": True},
    ),
]

ELEMENTWISE = [
    *binary(top.AddOp, do_relu=True),
    *binary(top.AddOp, coeff=(0.5, -2.0)),
    *binary(top.SubOp),
    *binary(top.SubOp, coeff=(1.0, 3.0)),
    *binary(top.MulOp),
    *binary(top.DivOp),
    *binary(top.MaxOp),
    *binary(top.MinOp),
    *binary(top.CompareOp, mode="Greater"),
    unary(top.AddConstOp, const_val=0.5),
    unary(top.SubConstOp, const_val=0.5, is_reverse=True),
    unary(top.MulConstOp, const_val=0.5),
    unary(top.MaxConstOp, const_val=0.25),
    unary(top.MinConstOp, const_val=0.25),
    unary(top.ReciprocalOp, positive, const_val=2.0),
    unary(top.CompareConstOp, mode="Less", const_val=0.25, inversed=False),
    unary(top.ClipOp, min=-0.5, max=0.75),
    Sample(top.LogicalAndOp, [X(np.round(inside(2, 3))), X(np.round(inside(3, 3)[:2]))]),
    Sample(
        top.MaskedFillOp,
        [X(np.round(np.abs(inside(2, 3)))), X(normal(2, 3))],
        {"inversed": False, "const_val": 3.0},
    ),
    Sample(
        top.WhereOp,
        [X(np.round(np.abs(inside(2, 3)))), X(normal(2, 3)), W(normal(3, 2).reshape(2, 3))],
    ),
    Sample(
        top.WhereOp,
        [X(np.round(np.abs(inside(2, 3)))), X(normal(2, 3)), None],
        {"y_is_const": True, "y_const_val": 2.0},
    ),
    Sample(top.ScaleOp, [X(normal(2, 3, 4, 5)), W(normal(1, 3, 1, 1)), W(normal(1, 3, 1, 1))]),
]

FUNCTIONS = [
    *map(unary, (top.AbsOp, top.CeilOp, top.CosOp, top.CoshOp, top.ErfOp, top.ExpOp, top.FloorOp)),
    *map(unary, (top.GELUOp, top.HardSwishOp, top.MishOp, top.ReluOp, top.RoundOp, top.SiLUOp)),
    *map(unary, (top.SignOp, top.SinOp, top.SinhOp, top.SoftplusOp, top.SoftsignOp, top.TanhOp)),
    *(unary(op, inside) for op in (top.ArccosOp, top.ArctanhOp, top.TanOp)),
    *(unary(op, positive) for op in (top.LogOp, top.RsqrtOp, top.SqrtOp)),
    unary(top.EluOp, alpha=0.7),
    unary(top.GELUOp, approx_mode="tanh"),
    unary(top.GELUOp, approx_mode="sigm"),
    unary(top.HardSigmoidOp, alpha=0.3, beta=0.4),
    unary(top.LeakyReluOp, alpha=0.1),
    unary(top.PowOp, exponent=3.0),
    unary(top.PowOp, exponent=2.0),
    unary(top.PowOp, positive, exponent=1.5),
    unary(top.Pow2Op, const_val=2.0),
    Sample(top.Pow3Op, [X(positive(2, 3, 4)), X(normal(3, 4))]),
    Sample(top.Pow3Op, [X(normal(2, 4)), W(indices(0, 1, 2, 3).astype(np.float32))]),
    Sample(top.Pow3Op, [X(np.zeros((1, 3), np.float32)), W(indices(0, 1, 2).astype(np.float32))]),
    unary(top.ReluOp, relu_limit=0.5),
    unary(top.SigmoidOp),
    unary(top.SigmoidOp, log=True),
    unary(top.CastOp, to="INT32", round_mode="TowardsZero"),
    unary(top.SoftmaxOp, axis=2),
    unary(top.SoftmaxOp, axis=1),
    unary(top.SoftmaxOp, axis=1, log=True),
    unary(top.SoftmaxOp, axis=2, log=True, beta=0.5),
    unary(top.SwishOp, beta=1.5),
    Sample(top.PReluOp, [X(normal(2, 3, 4, 5)), W(inside(1, 3, 1, 1))]),
]

REDUCTIONS = [
    unary(top.AvgPoolOp, **FAR_POOL, count_include_pad=True),
    unary(top.AvgPoolOp, **POOL),
    Sample(top.AvgPoolOp, [X(normal(2, 3, 8))], LINE),
    unary(top.MaxPoolOp, **POOL),
    Sample(top.MaxPoolOp, [X(normal(1, 2, 4, 4, 4))], CUBE),
    unary(top.ReduceOp, axes=(2, 3), keepdims=False, mode="ReduceMean"),
    unary(top.ReduceOp, axes=(1,), keepdims=True, mode="ReduceMax"),
    unary(top.ReduceOp, axes=(0, 2, 3), keepdims=True, mode="ReduceMax"),
    unary(top.ReduceOp, axes=(-4, -2), keepdims=False, mode="ReduceMin"),
    Sample(top.ArgOp, [X(normal(2, 7))], {"axis": 1, "keepdims": True, "mode": "ArgMax"}, 2),
    Sample(top.TopKOp, [X(normal(2, 7))], {"axis": 1, "K": 3}, 2),
    Sample(top.TopKOp, [X(normal(2, 140))], {"axis": 1, "K": 3}, 2),
    Sample(top.CumSumOp, [X(normal(2, 7)), None], {"axis": 1}),
    Sample(top.MatMulOp, [X(normal(2, 5, 8)), W(normal(8, 6)), W(normal(6))]),
    Sample(top.MatMulOp, [X(normal(2, 5, 8)), X(normal(2, 6, 8)), None], {"right_transpose": True}),
    unary(top.SoftmaxOp, axis=3, beta=0.5),
    Sample(
        top.LayerNormOp,
        [X(normal(2, 5, 8)), W(positive(8)), W(normal(8))],
        {"axis": 2, "eps": 1e-5, "normalized_shape": (8,)},
    ),
    Sample(
        top.GroupNormOp,
        [X(normal(2, 4, 3, 3)), W(positive(1, 4, 1, 1)), W(normal(1, 4, 1, 1))],
        {"num_groups": 2, "eps": 1e-5},
    ),
    Sample(
        top.InstanceNormOp,
        [X(normal(2, 4, 3, 3)), W(positive(1, 4, 1, 1)), W(normal(1, 4, 1, 1))],
        {"eps": 1e-5},
    ),
    Sample(top.PixelNormOp, [X(normal(2, 4, 3, 3)), W(positive(1, 4, 1, 1)), None], {"eps": 1e-5}),
    *(
        Sample(top.RopeOp, [X(normal(1, 3, 2, 8)), *[X(inside(1, 3, 1, 8))] * 2], {"rope_mode": m})
        for m in ("contiguous_halves", "interleaved_pairs")
    ),
    Sample(top.RMSNormOp, [X(normal(2, 5, 8)), W(positive(8))], {"eps": 1e-5}),
    Sample(top.LinearScanOp, [X(inside(1, 3, 5, 2)), X(normal(1, 3, 5, 2)), None], {"axis": 2}),
    Sample(
        top.LinearScanOp,
        [X(inside(4, 3)), X(normal(4, 3)), X(normal(1, 3))],
        {"axis": 0},
    ),
    Sample(top.LinearScanOp, [X(inside(2, 5, 3, 4)), X(normal(2, 5, 3, 4)), None], {"axis": 1}),
    Sample(
        top.LinearScanOp,
        [X(inside(1, 5, 3)), X(normal(1, 5, 3)), X(normal(1, 1, 3))],
        {"axis": 1},
    ),
    unary(top.LRNOp, size=3),
    unary(top.LRNOp, size=4, beta=0.6, alpha=0.5),
    Sample(
        top.BatchNormOp,
        [X(normal(2, 4, 3, 3)), *(W(positive(4)) for _ in range(3)), None],
        {"epsilon": 1e-3, "do_relu": True},
    ),
]

D2S = {"block_h": 2, "block_w": 2, "is_CRD": True, "is_inversed": False}
MOVEMENTS = [
    Sample(top.ConcatOp, [X(normal(2, 3, 4)), W(normal(2, 5, 4)), X(normal(2, 1, 4))], {"axis": 1}),
    Sample(top.Depth2SpaceOp, [X(normal(1, 8, 3, 3))], D2S),
    unary(top.FlattenOp, start_dim=1),
    Sample(top.GatherOp, [X(normal(5, 4)), W(indices(3, 0, 1))], {"axis": 0}),
    Sample(top.GatherOp, [W(normal(5, 4)), X(indices(3, 0, 1))], {"axis": 0}),
    Sample(
        top.GatherElementsOp,
        [X(normal(3, 4)), W(indices(0, 2, 1, 1).reshape(1, 4))],
        {"axis": 0},
    ),
    Sample(top.GatherNDOp, [X(normal(3, 4)), W(indices(0, 2, 1, 1).reshape(2, 2))]),
    Sample(
        top.ScatterElementsOp,
        [X(normal(3, 4)), W(indices(0, 2, 1, 1).reshape(1, 4)), X(normal(1, 4))],
        {"axis": 0},
    ),
    Sample(
        top.ScatterNDOp,
        [X(normal(3, 4)), W(indices(0, 2).reshape(2, 1)), X(normal(2, 4))],
    ),
    Sample(
        top.GridSamplerOp,
        [X(normal(1, 2, 5, 5)), X(inside(1, 3, 3, 2))],
        {"mode": 0, "padding_mode": 0, "align_corners": False},
    ),
    *(
        Sample(
            top.GridSamplerOp,
            [X(normal(2, 3, *sizes)), X(1.3 * inside(2, *sizes[1:], 3, len(sizes)))],
            {"mode": mode, "padding_mode": padding, "align_corners": align},
        )
        for sizes, mode, padding, align in (
            ((5, 4), 0, 1, True),
            ((5, 4), 0, 2, False),
            ((1, 6), 0, 2, True),
            ((3, 4, 5), 0, 0, False),
            ((5, 4), 2, 0, True),
            ((5, 4), 2, 2, False),
        )
    ),
    *(
        Sample(
            top.SampledSumOp,
            [X(normal(41, 3)), X(1.3 * inside(2, 3, images, 4)), X(normal(3, images, 4))],
            {
                "height": size[0],
                "width": size[1],
                "first": first,
                "image_step": step[0],
                "pixel_step": step[1],
                "mode": mode,
                "padding_mode": padding,
                "align_corners": align,
            },
        )
        for images, size, first, step, mode, padding, align in (
            (2, (5, 4), 0, (20, 1), 0, 0, False),
            (2, (5, 4), 1, (1, 2), 0, 1, True),
            (2, (1, 6), 0, (6, 1), 0, 0, True),
            (1, (5, 4), 2, (0, 2), 1, 0, False),
            (2, (5, 4), 0, (20, 1), 2, 2, False),
            (2, (5, 4), 0, (20, 1), 2, 0, False),
        )
    ),
    Sample(
        top.InterpOp,
        [X(normal(1, 2, 3, 5)), None],
        {"mode": "linear", "coord_mode": "half_pixel", "scale_h": 2.0, "scale_w": 1.5},
    ),
    Sample(
        top.InterpOp,
        [X(normal(1, 2, 3, 5)), W(indices(7, 11))],
        {"mode": "nearest", "coord_mode": "asymmetric", "scale_h": 7 / 3, "scale_w": 11 / 5},
    ),
    unary(top.PadOp, paddings=(0, 0, 1, 2, 0, 0, 2, 1), val=0.5, mode="constant"),
    unary(top.PadOp, paddings=(0, 0, 1, 2, 0, 0, 2, 1), mode="reflect"),
    *(
        Sample(top.PadOp, [X(normal(2, 3, 50))], {"paddings": counts, "mode": "reflect"})
        for counts in ((0, 0, 20, 0, 0, 15), (0, 0, 0, 0, 0, 49), (0, 0, 16, 0, 0, 16))
    ),
    unary(top.PermuteOp, order=(0, 2, 3, 1)),
    unary(top.ReshapeOp, shape=(6, 20)),
    unary(top.ReverseOp, axis=1),
    Sample(top.ShuffleChannelOp, [X(normal(1, 6, 2, 2))], {"group": 2}),
    Sample(
        top.SliceOp,
        [X(normal(2, 6, 4)), None, None, None],
        {"offset": (0, 1, 0), "ends": (2, 6, 4), "steps": (1, 2, 1)},
    ),
    Sample(top.SplitOp, [X(normal(2, 6, 4))], {"axis": 1, "num": 3}, 3),
    Sample(top.SqueezeOp, [X(normal(2, 1, 4))], {"axes": (1,)}),
    Sample(top.SwapChannelOp, [X(normal(1, 3, 2, 2))], {"channel_order": (2, 1, 0)}),
    unary(top.SwapDimInnerOp, offset=(0, 0, 1, 0)),
    unary(top.TileOp, tile=(1, 2, 1, 3)),
    Sample(top.TriluOp, [X(normal(4, 4))], {"upper": 1, "diagonal": 0}),
    Sample(top.UnsqueezeOp, [X(normal(2, 4))], {"axes": (1,)}),
    unary(top.UpsampleOp, scale_h=2, scale_w=3),
]

SAMPLES = [*CONVOLUTIONS, *ELEMENTWISE, *FUNCTIONS, *REDUCTIONS, *MOVEMENTS]


def module_of(sample: Sample) -> tuple[ModuleOp, dict[str, Array]]:
    """A top module with this op (named y, y1, ..), and its inputs."""
    activations = [operand.array for operand in sample.operands if isinstance(operand, X)]
    types = [TensorType(f32, array.shape) for array in activations]
    block, weights = Block(arg_types=types), Weights()
    arguments = iter(block.args)
    values = [
        _value(block, operand, i, arguments, weights) for i, operand in enumerate(sample.operands)
    ]
    names = ["y", *(f"y{i}" for i in range(1, sample.results))]
    shapes = _result_shapes(sample, values)
    results: list[Attribute] = [TensorType(f32, shape) for shape in shapes]
    op = sample.op.make(names, values, result_types=results, **sample.attributes)
    block.add_op(op)
    block.add_op(ReturnOp(*op.results))
    func = FuncOp("main", (types, results), Region(block))
    module = ModuleOp([func], sym_name=StringAttr("sample"))
    module.attributes = {"module.state": StringAttr("TOP_F32"), WEIGHT_FILE: StringAttr("s.npz")}
    attach(module, weights)
    read = [i for i, operand in enumerate(sample.operands) if isinstance(operand, X)]
    return module, {f"x{i}": array for i, array in zip(read, activations, strict=True)}


def _value(
    block: Block, operand: Operand, index: int, arguments: Any, weights: Weights
) -> SSAValue:
    if operand is None:
        op: NamedOp = top.NoneOp.make("none", (), result_types=[NoneType()])
    elif isinstance(operand, X):
        argument = next(arguments)
        op = top.InputOp.make(f"x{index}", (argument,), result_types=[argument.type])
    else:
        weights[f"w{index}"] = operand.array
        kind = TensorType(f32, operand.array.shape)
        op = top.WeightOp.make(f"w{index}", (), result_types=[kind])
    block.add_op(op)
    return op.results[0]


def _result_shapes(sample: Sample, values: Sequence[SSAValue]) -> Sequence[tuple[int, ...]]:
    unknown = [TensorType(f32, [-1])] * sample.results
    op = sample.op.make("y", values, result_types=unknown, **sample.attributes)
    assert isinstance(op, ShapeInference)
    arrays = dict(zip(values, sample.operands, strict=True))
    with constants_from(lambda value: _constant(arrays[value])):
        shapes = op.infer_shapes()
    op.erase()
    return shapes


def _constant(operand: Operand) -> Sequence[float] | None:
    return operand.array.reshape(-1).tolist() if isinstance(operand, W) else None


def element_types(module: ModuleOp, op_name: str) -> list[str]:
    """The element types of the operands and results of the first op called `op_name`."""
    op = next(op for op in module.walk() if op.name == op_name)
    types = [value.type for value in (*op.operands, *op.results)]
    return [str(kind.element_type) for kind in types if isa(kind, TensorType[Attribute])]
