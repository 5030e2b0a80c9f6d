"""Graphs that failed once, shrunk: name -> the graph, the passes left out, the number format."""

from tests.fuzz.recipes import Recipe, Step, Weight

PLANES = (2, 4, 3, 4)

KEPT: dict[str, tuple[Recipe, tuple[str, ...]] | tuple[Recipe, tuple[str, ...], str]] = {
    "reduced dimensions with gaps": (
        Recipe(
            (PLANES,),
            (Step("ReduceMax", (0,), (4,), {"axes": [0, 2, 3], "keepdims": 0}),),
        ),
        (),
    ),
    "norm over dimensions with gaps": (
        Recipe(
            (PLANES,),
            (Step("ReduceL2", (0,), (1, 4, 1, 4), {"axes": [0, 2], "keepdims": 1}),),
        ),
        (),
    ),
    "a row computed in the group that every lane needs": (
        Recipe((PLANES,), (Step("LogSoftmax", (0,), PLANES, {"axis": 1}),)),
        (),
    ),
    "a relu behind a concat of one tensor with itself": (
        Recipe(
            ((10, 5),),
            (
                Step("MatMul", (0, Weight((5, 14))), (10, 14)),
                Step("Concat", (1, 1), (20, 14), {"axis": 0}),
                Step("Relu", (2,), (20, 14)),
            ),
        ),
        (),
    ),
    "one tensor as several outputs": (
        Recipe(
            ((6, 4),),
            (
                Step("Relu", (0,), (6, 4)),
                Step("Transpose", (1,), (6, 4), {"perm": [0, 1]}),
                Step("Transpose", (1,), (6, 4), {"perm": [0, 1]}),
            ),
        ),
        (),
    ),
    "a mean of planes that are not kept": (
        Recipe(
            (PLANES,),
            (Step("ReduceMean", (0,), (2, 4), {"axes": [2, 3], "keepdims": 0}),),
        ),
        ("layer-group",),
    ),
    "several rows of one element in a lane": (
        Recipe(
            ((1, 16, 7, 1),),
            (
                Step("Relu", (0,), (1, 16, 7, 1)),
                Step("Softmax", (1,), (1, 16, 7, 1), {"axis": 3}),
            ),
        ),
        (),
        "F16",
    ),
    "a magnitude in front of a relu in 8 bits": (
        Recipe(
            ((1, 1, 4),),
            (
                Step("Gather", (0, Weight((1,), "ints", (0,))), (1, 1, 4), {"axis": 0}),
                Step("Abs", (1,), (1, 1, 4)),
                Step("Relu", (2,), (1, 1, 4)),
            ),
        ),
        (),
        "INT8",
    ),
    "logarithms of shares in 8 bits": (
        Recipe(
            ((52, 48),),
            (
                Step("LogSoftmax", (0,), (52, 48), {"axis": 1}),
                Step("MatMul", (1, Weight((48, 8))), (52, 8)),
            ),
        ),
        (),
        "INT8",
    ),
    "a result of parts with views behind it": (
        Recipe(
            ((22, 1),),
            (
                Step("Relu", (0,), (22, 1)),
                Step("Concat", (1, 0), (44, 1), {"axis": 0}),
                Step("Relu", (2,), (44, 1)),
                Step("Concat", (3, 0), (66, 1), {"axis": 0}),
                Step("Relu", (4,), (66, 1)),
            ),
        ),
        (),
    ),
    "a result of parts, one of them known": (
        Recipe(
            ((1, 1, 4),),
            (
                Step("Relu", (0,), (1, 1, 4)),
                Step(
                    "ScatterND",
                    (Weight((2, 1, 4)), Weight((1, 1), "ints", (0,)), 1),
                    (2, 1, 4),
                    {"reduction": "none"},
                ),
            ),
        ),
        (),
    ),
    "a network of nothing but views in 8 bits": (
        Recipe(
            ((1, 1, 4),),
            (
                Step(
                    "ScatterND",
                    (Weight((1, 1, 4)), Weight((1, 1), "ints", (0,)), 0),
                    (1, 1, 4),
                    {"reduction": "none"},
                ),
            ),
        ),
        (),
        "INT8",
    ),
    "one window that leaves columns unread": (
        Recipe(
            ((1, 1, 2, 7),),
            (
                Step(
                    "MaxPool",
                    (0,),
                    (1, 1, 2, 4),
                    {"kernel_shape": [1, 1], "strides": [1, 2], "pads": [0] * 4},
                ),
                Step(
                    "MaxPool",
                    (1,),
                    (1, 1, 2, 1),
                    {"kernel_shape": [1, 3], "strides": [1, 2], "pads": [0] * 4},
                ),
            ),
        ),
        (),
    ),
    "one row as often as there were rows": (
        Recipe(
            ((2, 1, 4),),
            (
                Step(
                    "Slice",
                    (0, *(Weight((1,), "ints", (value,)) for value in (0, 1, 0, 1))),
                    (1, 1, 4),
                ),
                Step("Expand", (1, Weight((3,), "ints", (1, 2, 4))), (1, 2, 4)),
                Step("Relu", (2,), (1, 2, 4)),
            ),
        ),
        (),
    ),
    "one row of a product is the result, with a range of its own": (
        Recipe(
            ((1, 2, 4),),
            (
                Step("Relu", (0,), (1, 2, 4)),
                Step("Relu", (1,), (1, 2, 4)),
                Step("MatMul", (2, Weight((4, 1), "normal")), (1, 2, 1)),
                Step(
                    "Slice",
                    (3, *(Weight((1,), "ints", (value,)) for value in (0, 1, 1, 1))),
                    (1, 1, 1),
                ),
            ),
        ),
        (),
        "INT8",
    ),
    "a result of integer steps beside an op that reads its range": (
        Recipe(
            ((1, 2, 4),),
            (
                Step("CumSum", (0, Weight((), "ints", (0,))), (1, 2, 4)),
                Step("Expand", (1, Weight((3,), "ints", (1, 2, 4))), (1, 2, 4)),
                Step(
                    "Slice",
                    (1, *(Weight((1,), "ints", (n,)) for n in (0, 2, 1))),
                    (1, 2, 4),
                ),
                Step("Relu", (3,), (1, 2, 4)),
            ),
        ),
        (),
        "INT8",
    ),
    "a minimum with less than all there is": (
        Recipe(
            ((1, 1, 1, 1),),
            (
                Step("Relu", (0,), (1, 1, 1, 1)),
                Step("Min", (1, Weight((1, 1, 1, 1))), (1, 1, 1, 1)),
                Step("Mul", (2, Weight((1, 1, 1, 1))), (1, 1, 1, 1)),
                Step("Relu", (3,), (1, 1, 1, 1)),
                Step("Relu", (4,), (1, 1, 1, 1)),
            ),
        ),
        (),
        "INT8",
    ),
    "a maximum with more than all there is": (
        Recipe(
            (PLANES,),
            (
                Step("Relu", (0,), PLANES),
                Step("Max", (1, Weight((), "floats", (9.0,))), PLANES),
                Step("MatMul", (2, Weight((4, 4))), PLANES),
            ),
        ),
        (),
        "INT8",
    ),
    "a pad of numbers beyond what it pads": (
        Recipe(
            ((4, 8),),
            (
                Step("Relu", (0,), (4, 8)),
                Step(
                    "Pad",
                    (1, Weight((4,), "ints", (0, 2, 0, 2)), Weight((), "floats", (9.0,))),
                    (4, 12),
                    {"mode": "constant"},
                ),
                Step("MatMul", (2, Weight((12, 8))), (4, 8)),
            ),
        ),
        (),
        "INT8",
    ),
    "a shape of a result behind parts of another": (
        Recipe(
            ((1, 2, 1, 1),),
            (
                Step("Transpose", (0,), (2, 1, 1, 1), {"perm": [1, 0, 2, 3]}),
                Step("Identity", (1,), (2, 1, 1, 1)),
                Step("Mul", (Weight((1, 1, 1, 1)), 2), (2, 1, 1, 1)),
                Step("Relu", (1,), (2, 1, 1, 1)),
                Step("Add", (4, 0), (2, 2, 1, 1)),
                Step("Concat", (0, 5, 5), (5, 2, 1, 1), {"axis": 0}),
            ),
        ),
        (),
        "INT8",
    ),
    "a returned shape of an input that has a range": (
        Recipe(
            ((1, 2, 1, 1),),
            (
                Step("Transpose", (0,), (2, 1, 1, 1), {"perm": [1, 0, 2, 3]}),
                Step("Identity", (1,), (2, 1, 1, 1)),
                Step("Gather", (2, Weight((1,), "ints", (0,))), (2, 1, 1, 1), {"axis": 1}),
                Step("Relu", (0,), (1, 2, 1, 1)),
                Step("Relu", (1,), (2, 1, 1, 1)),
                Step("Add", (5, 0), (2, 2, 1, 1)),
            ),
        ),
        (),
        "INT8",
    ),
    "a result that has the range of what it is moved from": (
        Recipe(
            ((1, 4, 9, 4), (1, 4, 9, 4)),
            (
                Step(
                    "Einsum",
                    (1, Weight((9, 1, 4))),
                    (1, 4, 9, 1),
                    {"equation": "nchw,hkw->nchk"},
                ),
                Step("LogSoftmax", (0,), (1, 4, 9, 4), {"axis": 1}),
                Step("Relu", (3,), (1, 4, 9, 4)),
                Step("Relu", (4,), (1, 4, 9, 4)),
                Step("Mul", (5, 0), (1, 4, 9, 4)),
            ),
        ),
        (),
        "INT8",
    ),
    "cubic to one line": (
        Recipe(
            ((1, 1, 2, 3),),
            (
                Step(
                    "Resize",
                    (0, None, None, Weight((4,), "ints", (1, 1, 1, 6))),
                    (1, 1, 1, 6),
                    {
                        "mode": "cubic",
                        "coordinate_transformation_mode": "pytorch_half_pixel",
                        "cubic_coeff_a": -0.75,
                    },
                ),
            ),
        ),
        (),
    ),
    "a constant far above what it is added to": (
        Recipe(
            ((15, 5),),
            (
                Step("ReduceMin", (0,), (15,), {"axes": [1], "keepdims": 0}),
                Step("Relu", (1,), (15,)),
                Step("Gather", (2, Weight((3,), "ints", (6, 12, 11))), (3,), {"axis": 0}),
                Step("Relu", (3,), (3,)),
                Step("Add", (4, Weight((1,), "far")), (3,)),
            ),
        ),
        (),
        "INT8",
    ),
}
