"""sSFU: polynomials by table and reciprocal square roots.

BM1684X instruction reference, sections 5.3, 5.9 and 6.2.
"""

import numpy as np

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.machine import newton
from xdsl_tpu.backend.machine.elements import F32, element, flushed
from xdsl_tpu.backend.machine.state import Executors, State, require, result_shape, same_spans


def taylor(state: State, command: Command) -> None:
    """Horner from the highest of opd1_n coefficients; every step rounded to the operand type.

    Each lane has its own coefficients: a compact (1, lanes, 1, opd1_n) table.
    """
    kind = element(command["opd0_prec"])
    require(command["res0_prec"] == command["opd0_prec"], "the result has the operand type")
    require(kind.is_float, "polynomials are simulated for floats")
    shape, terms = result_shape(command), command["opd1_n"]
    result = state.eu_aligned(command["res0_addr"], shape, kind)
    opd0 = state.eu_aligned(command["opd0_addr"], shape, kind)
    same_spans(result, opd0)
    _, offset = state.memory.local.split(command["opd1_addr"])
    require(terms > 0, "the table is empty")
    require(offset + terms * kind.size <= state.chip.local_bytes, "the table leaves its lane")
    table = kind.load(state.memory.local.rows(offset, terms, kind.storage))
    for span, target, stored in zip(result.spans, result.views, opd0.views, strict=True):
        lanes = table[span.lane : span.lane + span.lanes, :, None, None]
        x = kind.load(np.ascontiguousarray(stored))
        total = np.empty_like(x)
        total[...] = lanes[:, terms - 1]
        for k in range(terms - 2, -1, -1):
            np.multiply(total, x, out=total)
            total = kind.load(kind.store(flushed(total)))
            total += lanes[:, k]
            total = kind.load(kind.store(flushed(total)))
        target[...] = kind.store(total)


def rsqrt(state: State, command: Command) -> None:
    """1 / sqrt(x) of f32 with `opd2_n_str` + 1 Newton steps."""
    require(
        command["opd0_prec"] == command["res0_prec"] == 2,
        "rsqrt is simulated in f32 only",
    )
    shape = result_shape(command)
    result = state.eu_aligned(command["res0_addr"], shape, F32)
    opd0 = state.eu_aligned(command["opd0_addr"], shape, F32)
    same_spans(result, opd0)
    for target, stored in zip(result.views, opd0.views, strict=True):
        target[...] = newton.rsqrt(stored, command["opd2_n_str"])


EXECUTORS: Executors = {("sSFU", 12): taylor, ("sSFU", 13): taylor, ("sSFU", 17): rsqrt}
