"""The pass `add-postprocess`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, UnrankedTensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.integers import INTEGER
from xdsl_tpu.dialects.interfaces.shape import ShapeInference
from xdsl_tpu.dialects.module_info import module_info
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.weights import Weights, weights_of
from xdsl_tpu.passes.module_state import State, require_state
from xdsl_tpu.passes.tensors import functions, none_of, shape_of
from xdsl_tpu.passes.types import set_type

MOST = 200
"""Boxes that are looked at and given, the best ones first."""
SCORE, OVERLAP = 0.5, 0.5
"""Boxes of a smaller score are left out, and those that share more of what they cover together
with one of the same class and a higher score: keep_topk, obj_threshold and nms_threshold as the
vendor's pass writes them."""
COLUMNS = 7
UNIT = 1 / 16
"""Of boxes when areas are compared: in 16-bit floats those of an image of 4000 pixels are finite,
and those of a few pixels are not nothing."""

WITH_OBJECTS = ("yolov3", "yolov4", "yolov5", "yolov7")
"""Exports whose rows are a box, whether there is an object, and classes: batch x boxes x 5 + .."""
WITHOUT = ("yolov8", "yolov11")
"""Those of columns of a box and classes: batch x 4 + classes x boxes."""


@dataclass(frozen=True)
class AddPostprocessPass(ModulePass):
    """Let a detector give the boxes that are left when those that overlap are gone.

        return %1                       %2..%9 = TopK of scores, Gather of boxes, overlaps
        // 1x84x8400 loc("y")     ->    %10 = MatMul(%9, %8) {do_relu = true}  // a round
                                        return %11  // 1x1x200x7 loc("y_boxes")

    `type` is the detector: yolov8 and yolov11 have one output of columns (x, y, width, height and
    classes), yolov3, yolov4, yolov5 and yolov7 one of rows (.., the score of an object, classes),
    as their exporters decode them. The result has 200 rows an image (or as many as there are
    boxes): image, class, score, x, y, width, height, the best score first. A row of zeros is no
    box. Those below a score of 0.5 are left out, and those that share more than half of what they
    cover together with a better one of their class. Each row is decided when all better ones are,
    so there is a round for every row: what it leaves is ReLU(valid - left @ overlaps), ones and
    zeros.

    Other types leave a note: their boxes are found by whoever takes the outputs. Without a `type`
    nothing is asked for, and nothing said.
    """

    name = "add-postprocess"

    type: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.type:
            return
        if self.type not in (*WITH_OBJECTS, *WITHOUT):
            known = ", ".join((*WITH_OBJECTS, *WITHOUT))
            module_info(op).notes.append(
                f"{self.name} does nothing for type {self.type}: outputs stay as the network has "
                f"them; boxes are found for {known}"
            )
            return
        require_state(op, State.TOP_F32, self.name)
        for func in functions(op):
            _Postprocessing(func, self.type, weights_of(op)).add()
            func.update_function_type()


class _Postprocessing:
    """The ops behind the one output of a detector, made one behind the other."""

    def __init__(self, func: FuncOp, kind: str, weights: Weights) -> None:
        self._kind, self._weights, self._prefix = kind, weights, ""
        end = func.body.block.last_op
        assert isinstance(end, ReturnOp)
        self._end = end
        self._none = none_of(func).results[0]
        if len(end.operands) != 1 or len(shape_of(end.operands[0])) != 3:
            found = "; ".join(_dims(shape_of(value)) for value in end.operands)
            raise TpuError(
                f"add-postprocess: {kind} has one output, {self._wanted()}, and this network has "
                f"{found}; export it with its boxes decoded, or cut it there (trunc-io)"
            )
        self._source = end.operands[0]
        self._name = name_of(self._source) or kind

    def _wanted(self) -> str:
        rows = self._kind in WITH_OBJECTS
        return "images x boxes x (5 + classes)" if rows else "images x (4 + classes) x boxes"

    def add(self) -> None:
        """Put the ops in front of the return, which gives their result."""
        images, *sizes = shape_of(self._source)
        columns = self._source
        if self._kind in WITH_OBJECTS:
            sizes = sizes[::-1]
            columns = self._op(top.PermuteOp, "columns", [columns], order=(0, 2, 1))
        classes = sizes[0] - 4 - (self._kind in WITH_OBJECTS)
        if classes < 1:
            raise TpuError(
                f"add-postprocess: output '{self._name}' is {_dims(shape_of(self._source))}, and "
                f"{self._kind} has {self._wanted()}"
            )
        parts = [self._image(columns, image, classes, sizes[1]) for image in range(images)]
        self._prefix = ""
        if images > 1:
            parts = [self._op(top.ConcatOp, "images", parts, axis=0)]
        boxes = self._op(
            top.ReshapeOp, "boxes", parts, shape=[images, 1, min(MOST, sizes[1]), COLUMNS]
        )
        self._end.operands[0] = boxes

    def _image(self, columns: SSAValue, image: int, classes: int, count: int) -> SSAValue:
        """The rows of one image, 1 x rows x 7."""
        self._prefix = f"{image}_"
        kept = min(MOST, count)
        first = 4 + (self._kind in WITH_OBJECTS)
        places = self._cut(columns, "places", image, (0, 4), count)
        scores = self._cut(columns, "scores", image, (first, classes), count)
        if self._kind in WITH_OBJECTS:
            there = self._cut(columns, "there", image, (4, 1), count)
            scores = self._op(top.MulOp, "sure", [scores, there])
        kinds, best = self._ops(
            top.ArgOp, ("kind", "best"), [scores], (INTEGER, f32),
            axis=1, keepdims=False, mode="ArgMax", select_last_index=False,
        )  # fmt: skip
        score, order = self._ops(
            top.TopKOp, ("score", "order"), [best], (f32, INTEGER), axis=1, K=kept
        )
        order = self._op(top.ReshapeOp, "chosen", [order], INTEGER, shape=[kept])
        places = self._op(top.GatherOp, "box", [places, order], axis=2)
        kinds = self._op(top.GatherOp, "class", [kinds, order], INTEGER, axis=1)
        kinds = self._op(top.CastOp, "class_number", [kinds], to="F32")
        row, column = (1, 1, kept), (1, kept, 1)
        kinds, score = (
            self._op(top.ReshapeOp, name, [value], shape=row)
            for name, value in (("classes", kinds), ("score_row", score))
        )
        valid = self._compare("valid", score, "Greater", SCORE)
        left = self._left(places, kinds, valid, row, column)
        one = self._weight("image", np.full(row, image))
        table = self._op(top.ConcatOp, "table", [one, kinds, score, places], axis=1)
        table = self._op(top.MulOp, "left_boxes", [table, left])
        return self._op(top.PermuteOp, "rows", [table], order=(0, 2, 1))

    def _left(
        self,
        places: SSAValue,
        kinds: SSAValue,
        valid: SSAValue,
        row: Sequence[int],
        column: Sequence[int],
    ) -> SSAValue:
        """1 for each box that stays, 0 for others, in the shape `row`."""
        kept = row[-1]
        alike = self._op(top.ReshapeOp, "class_column", [kinds], shape=column)
        alike = self._op(top.CompareOp, "alike", [alike, kinds], mode="Equal")
        better = self._weight("better", np.triu(np.ones((1, kept, kept)), 1))
        alike = self._op(top.MulOp, "rivals", [alike, better])
        shared = self._op(top.MulOp, "rivals_overlap", [self._overlaps(places, row, column), alike])
        # ones beyond the boxes carry what is valid into every round
        against = self._op(top.MulConstOp, "against", [shared], const_val=-1.0)
        matrix = self._op(top.ConcatOp, "against_valid", [against, valid], axis=1)
        end = np.zeros((1, kept + 1, 1))
        end[0, kept] = 1
        matrix = self._op(top.ConcatOp, "round", [matrix, self._weight("one", end)], axis=2)
        left = self._op(
            top.ConcatOp, "left_0", [valid, self._weight("start", np.ones((1, 1, 1)))], axis=2
        )
        for number in range(1, kept):
            operands = [left, matrix, self._none]
            left = self._op(top.MatMulOp, f"left_{number}", operands, do_relu=True)
        return self._slice("left", left, (0, 0, 0), row)

    def _overlaps(self, places: SSAValue, row: Sequence[int], column: Sequence[int]) -> SSAValue:
        """1 where box j (rows) covers more than `OVERLAP` of what it and box i cover together."""
        scaled = self._op(top.MulConstOp, "scaled", [places], const_val=UNIT)
        x, y, width, height = (
            self._slice(name, scaled, (0, index, 0), row)
            for index, name in enumerate(("x", "y", "width", "height"))
        )
        shared: list[SSAValue] = []
        for name, middle, size in (("across", x, width), ("down", y, height)):
            half = self._op(top.MulConstOp, f"half_{name}", [size], const_val=0.5)
            begin = self._op(top.SubOp, f"begin_{name}", [middle, half])
            end = self._op(top.AddOp, f"end_{name}", [middle, half])
            columns = [
                self._op(top.ReshapeOp, f"{what}_column_{name}", [value], shape=column)
                for what, value in (("begin", begin), ("end", end))
            ]
            low = self._op(top.MaxOp, f"low_{name}", [columns[0], begin])
            high = self._op(top.MinOp, f"high_{name}", [columns[1], end])
            shared.append(self._op(top.SubOp, f"shared_{name}", [high, low], do_relu=True))
        both = self._op(top.MulOp, "both", shared)
        area = self._op(top.MulOp, "area", [width, height])
        areas = self._op(top.ReshapeOp, "area_column", [area], shape=column)
        sums = self._op(top.AddOp, "areas", [areas, area])
        union = self._op(top.SubOp, "union", [sums, both])
        limit = self._op(top.MulConstOp, "limit", [union], const_val=OVERLAP)
        return self._op(top.CompareOp, "overlap", [both, limit], mode="Greater")

    # Making ops

    def _op(
        self,
        kind: type[NamedOp],
        name: str,
        operands: Sequence[SSAValue],
        element: Attribute = f32,
        **attributes: Any,
    ) -> SSAValue:
        return self._ops(kind, (name,), operands, (element,), **attributes)[0]

    def _ops(
        self,
        kind: type[NamedOp],
        names: Sequence[str],
        operands: Sequence[SSAValue],
        elements: Sequence[Attribute],
        **attributes: Any,
    ) -> Sequence[SSAValue]:
        """An op of one result a name, in front of the return; its shapes follow from the rest."""
        titles = [f"{self._name}_{self._prefix}{name}" for name in names]
        made = kind.make(
            titles[0] if len(titles) == 1 else titles,
            operands,
            result_types=[UnrankedTensorType(element) for element in elements],
            **attributes,
        )
        block = self._end.parent
        assert block is not None
        block.insert_op_before(made, self._end)
        assert isinstance(made, ShapeInference)
        made.resolve()
        for index, (element, shape) in enumerate(zip(elements, made.infer_shapes(), strict=True)):
            set_type(made.results[index], TensorType(element, shape))
        return made.results

    def _compare(self, name: str, value: SSAValue, mode: str, number: float) -> SSAValue:
        return self._op(
            top.CompareConstOp, name, [value], mode=mode, const_val=number, inversed=False
        )

    def _cut(
        self, columns: SSAValue, name: str, image: int, rows: tuple[int, int], count: int
    ) -> SSAValue:
        """So many rows of an image from the first on, 1 x rows x count."""
        first, size = rows
        return self._slice(name, columns, (image, first, 0), (1, size, count))

    def _slice(
        self, name: str, value: SSAValue, offset: Sequence[int], shape: Sequence[int]
    ) -> SSAValue:
        ends = [begin + size for begin, size in zip(offset, shape, strict=True)]
        operands = [value, self._none, self._none, self._none]
        return self._op(
            top.SliceOp, name, operands, offset=list(offset), ends=ends, steps=[1] * len(shape)
        )

    def _weight(self, name: str, values: npt.ArrayLike) -> SSAValue:
        title, array = f"{self._name}_{self._prefix}{name}", np.asarray(values, np.float32)
        self._weights[title] = array
        made = top.WeightOp.make(title, (), result_types=[TensorType(f32, array.shape)])
        block = self._end.parent
        assert block is not None
        block.insert_op_before(made, self._end)
        return made.output


def _dims(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))
