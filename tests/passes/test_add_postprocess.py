"""Boxes of detectors: what is left is what a greedy search in numpy leaves."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.passes.semantics import Net
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.add_postprocess import MOST, OVERLAP, SCORE
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.pipelines import lower

CHIP = load_chip()
Array = npt.NDArray[Any]


def detector(shape: tuple[int, ...], kind: str) -> ModuleOp:
    """A network that gives its input, with the boxes that are left of it."""
    net = Net()
    x = net.input("x", *shape)
    module = net.module(net.op(top.MulConstOp, "y", (x,), const_val=1.0))
    make_pass("add-postprocess", f"type={kind}").apply(make_context(), module)
    module.verify()
    return module


def boxes(seed: int, images: int, classes: int, count: int) -> Array:
    """Columns of a box, around one of six places, and the scores of classes."""
    random = np.random.default_rng(seed)
    around = random.uniform(40, 200, (images, 2, 6))[:, :, random.integers(0, 6, count)]
    middle = around + random.normal(0, 8, (images, 2, count))
    sizes = random.uniform(20, 60, (images, 2, count))
    scores = random.uniform(0, 1, (images, classes, count))
    return np.concatenate([middle, sizes, scores], axis=1).astype(np.float32)


def overlap(one: Array, other: Array) -> bool:
    """Whether two boxes share more than a part of what they cover together."""
    ends = [(box[:2] - box[2:] / 2, box[:2] + box[2:] / 2) for box in (one, other)]
    sizes = np.minimum(ends[0][1], ends[1][1]) - np.maximum(ends[0][0], ends[1][0])
    both = np.prod(np.maximum(sizes, 0))
    return bool(both > OVERLAP * (np.prod(one[2:]) + np.prod(other[2:]) - both))


def greedy(columns: Array) -> Array:
    """Rows of what is left, the best box first, then all that do not overlap a better one."""
    result = np.zeros((len(columns), 1, min(MOST, columns.shape[2]), 7), np.float32)
    for image, (places, scores) in enumerate(zip(columns[:, :4], columns[:, 4:], strict=True)):
        kinds, best = scores.argmax(0), scores.max(0)
        left: list[int] = []
        for row, box in enumerate(np.argsort(-best, kind="stable")[:MOST]):
            rivals = (one for one in left if kinds[one] == kinds[box])
            if best[box] <= SCORE or any(overlap(places[:, one], places[:, box]) for one in rivals):
                continue
            left.append(int(box))
            result[image, 0, row] = image, kinds[box], best[box], *places[:, box]
    return result


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("images", "classes", "count"), [(1, 3, 30), (2, 1, 20), (1, 2, 230)])
def test_what_a_greedy_search_leaves(seed: int, images: int, classes: int, count: int) -> None:
    columns = boxes(seed, images, classes, count)
    wanted = greedy(columns)
    assert 0 < (wanted[..., 2] > 0).sum() < wanted.shape[0] * wanted.shape[2]
    (found,) = run_module(detector(columns.shape, "yolov11"), [columns]).values()
    np.testing.assert_array_equal(found, wanted)


def test_scores_of_an_object_count_for_every_class() -> None:
    columns = boxes(7, 2, 4, 24)
    sure = columns.copy()
    sure[:, 5:] *= sure[:, 4:5]
    rows = columns.transpose(0, 2, 1)
    (found,) = run_module(detector(rows.shape, "yolov5"), [rows]).values()
    np.testing.assert_array_equal(found, greedy(np.delete(sure, 4, axis=1)))


def test_a_row_of_boxes_that_each_overlap_the_next() -> None:
    """The longest way: whether a box stays is known when all before it are decided."""
    count = 23
    columns = np.zeros((1, 5, count), np.float32)
    columns[0, 0] = 10 * np.arange(count)
    columns[0, 2:4] = 40
    columns[0, 4] = np.linspace(0.99, 0.6, count)
    (found,) = run_module(detector(columns.shape, "yolov8"), [columns]).values()
    np.testing.assert_array_equal(found, greedy(columns))
    assert (found[0, 0, :, 2] > 0).tolist() == [index % 2 == 0 for index in range(count)]


def test_no_box_is_sure_enough() -> None:
    columns = boxes(3, 1, 2, 9)
    columns[:, 4:] = SCORE
    (found,) = run_module(detector(columns.shape, "yolov8"), [columns]).values()
    assert not found.any()


@pytest.mark.parametrize(("mode", "error"), [("F32", 0.0), ("F16", 0.07)])
def test_the_chip_finds_them(mode: str, error: float) -> None:
    """In F16 places are rounded to an eighth of a pixel."""
    columns = boxes(1, 1, 3, 16)
    module = detector(columns.shape, "yolov8")
    lower(module, mode, CHIP.instruction_set)
    program = generate(module, weights_of(module), CHIP)
    (found,) = run_program(program, CHIP, {"x": columns}).values()
    np.testing.assert_allclose(found, greedy(columns), atol=error)
