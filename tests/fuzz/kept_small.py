"""Graphs that failed once on a chip of little memory (`SMALL` of `test_small_chips.py`)."""

from typing import NamedTuple

from tests.fuzz.recipes import Recipe, Step, Weight


class Kept(NamedTuple):
    """A graph, and what it failed with."""

    recipe: Recipe
    chip: str
    mode: str = "F32"
    disable: tuple[str, ...] = ()


ROWS = (1, 16, 7, 8)

KEPT_SMALL = {
    "rows with gaps in DDR as that chip has them": Kept(
        Recipe(
            ((11, 1),),
            (
                Step("MatMul", (0, Weight((1, 2))), (11, 2)),
                Step("LogSoftmax", (1,), (11, 2), {"axis": 0}),
            ),
        ),
        "4 lanes, slow DDR",
    ),
    "statistics of more rows than a lane is wide": Kept(
        Recipe(
            (ROWS,),
            (
                Step(
                    "LayerNormalization",
                    (0, Weight((8,), "positive"), Weight((8,))),
                    ROWS,
                    {"axis": -1, "epsilon": 1e-3},
                ),
            ),
        ),
        "4 lanes of 16 KiB",
        "F16",
    ),
    "requantisation that takes more than a lane's width": Kept(
        Recipe(
            ((2, 3, 3, 3),),
            (
                Step(
                    "Conv",
                    (0, Weight((64, 3, 3, 1))),
                    (2, 64, 1, 2),
                    {"kernel_shape": [3, 1], "strides": [1, 2], "pads": [0, 0, 2, 0],
                     "dilations": [2, 1], "group": 1},
                ),
            ),
        ),
        "8 lanes, much faster DDR",
        "INT8",
    ),
}  # fmt: skip
