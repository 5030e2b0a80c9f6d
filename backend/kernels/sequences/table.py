"""Which sequence computes which mode of `tpu.Active` on f16, and which on bf16."""

from xdsl_tpu.backend.kernels.sequences import (
    brief,
    exp,
    gelu,
    linear_units,
    logistic,
    plain,
    trigonometric,
)
from xdsl_tpu.backend.kernels.sequences.unary import Unary
from xdsl_tpu.dialects.precision import Precision

EXACT: dict[str, Unary] = {
    "ABSVAL": plain.ABSOLUTE,
    "SQUARE": plain.SQUARE,
}
"""Those that lose nothing."""

FAST: dict[str, Unary] = {
    **EXACT,
    "COS": trigonometric.COS_16,
    "ELU": linear_units.ELU_F16,
    "EXP": exp.EXP_F16,
    "GELU": gelu.GELU_F16,
    "HSWISH": plain.HARD_SWISH_F16,
    "MISH": linear_units.MISH_F16,
    "QGELU": gelu.QUICK_GELU_F16,
    "SIGMOID": logistic.SIGMOID_F16,
    "SILU": logistic.SILU_F16,
    "SIN": trigonometric.SIN_16,
    "TANH": logistic.TANH_F16,
    "TGELU": gelu.TANH_GELU_F16,
}

CLOSE: dict[str, Unary] = {
    **EXACT,
    "COS": trigonometric.COS_16,
    "GELU": gelu.GELU_F16_CLOSE,
    "SILU": logistic.SILU_F16_CLOSE,
    "SIN": trigonometric.SIN_16,
}
"""Within about one ulp; other modes have no such form and are computed in f32 instead."""

SEQUENCES: dict[Precision, dict[str, Unary]] = {
    Precision.FAST: FAST,
    Precision.CLOSE: CLOSE,
    Precision.FULL: EXACT,
}

EXACT_BF16: dict[str, Unary] = {
    "ABSVAL": plain.ABSOLUTE,
    "RELU": plain.RELU,
    "SQUARE": plain.SQUARE,
}

FAST_BF16: dict[str, Unary] = {
    **EXACT_BF16,
    "COS": trigonometric.COS_16,
    "GELU": brief.GELU_BF16,
    "QGELU": brief.QUICK_GELU_BF16,
    "SIGMOID": brief.SIGMOID_BF16,
    "SILU": brief.SILU_BF16,
    "SIN": trigonometric.SIN_16,
    "TANH": brief.TANH_BF16,
    "TGELU": brief.TANH_GELU_BF16,
}

BF16_SEQUENCES: dict[Precision, dict[str, Unary]] = {
    Precision.FAST: FAST_BF16,
    Precision.CLOSE: EXACT_BF16,
    Precision.FULL: EXACT_BF16,
}
"""Modes that are not here are computed in f32, with casts around them."""
