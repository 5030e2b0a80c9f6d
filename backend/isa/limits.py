"""What the fields of commands can hold: the limits that kernels and lowerings cut their work to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from xdsl_tpu.backend.isa.forms import Form

_WINDOWED = ("sCONV", "sPorD")


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest values by which all commands of a kind can be given, from their fields' widths.

    `window_stride`, `padding`, `dilation` and `inserted_zeros` (between elements of the image) are
    of convolutions and pools, `extent` is a size of any operand, `local_stride` a stride in
    elements of an operand in local memory.
    """

    window_stride: int
    padding: int
    dilation: int
    inserted_zeros: int
    extent: int
    local_stride: int

    @classmethod
    def least(cls, several: Iterable["Limits"]) -> "Limits":
        """What all of these instruction sets can say."""
        found = list(several)
        return cls(
            **{one.name: min(getattr(limits, one.name) for limits in found) for one in fields(cls)}
        )

    @classmethod
    def of(cls, forms: Mapping[str, Form]) -> "Limits":
        """Those of these forms."""

        def least(names: tuple[str, ...], *fields: str) -> int:
            return min(forms[name].largest(field) for name in names for field in fields)

        pads = (f"opd0_{side}_pad" for side in ("up", "dn", "lf", "rt"))
        transfers = (f"{side}_{axis}size" for side in ("src", "dst") for axis in "nchw")
        return cls(
            window_stride=least(_WINDOWED, "res_op_x_str", "res_op_y_str"),
            padding=least(_WINDOWED, *pads),
            dilation=least(_WINDOWED, "opd1_x_ins0", "opd1_y_ins0") + 1,
            inserted_zeros=least(_WINDOWED, "opd0_x_ins0", "opd0_y_ins0"),
            extent=min(
                least(("sAR",), *(f"res0_{axis}" for axis in "nchw")),
                least(("DMA_tensor",), *transfers),
            ),
            local_stride=least(("sAR",), "opd0_n_str", "opd0_c_str"),
        )
