"""Sliding windows of convolution and pooling: padding, stride, dilation, insertion."""

from dataclasses import dataclass

import numpy as np

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.machine.elements import Array
from xdsl_tpu.backend.machine.state import require


@dataclass(frozen=True)
class Window:
    """Kernel size, stride, dilation and pads of both axes, and the size of the result."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    insertion: tuple[int, int]
    pads: tuple[int, int, int, int]  # up, down, left, right
    result: tuple[int, int]

    @property
    def taps(self) -> int:
        """Positions of the kernel."""
        return self.kernel[0] * self.kernel[1]

    def padded(self, values: Array, fill: Array) -> Array:
        """(n, c, h, w) with zeros inserted between and `fill` around the elements."""
        spread = self._inserted(values)
        up, down, left, right = self.pads
        if not any(self.pads):
            return spread
        n, c, h, w = spread.shape
        out = np.empty((n, c, h + up + down, w + left + right), values.dtype)
        out[...] = fill
        out[:, :, up : up + h, left : left + w] = spread
        return out

    def sliding(self, padded: Array) -> Array:
        """A view (n, c, oh, ow, kh, kw) of padded values.

        Raises TpuError when the result is larger than the windows that fit.
        """
        n, c, h, w = padded.shape
        (kh, kw), (sy, sx), (dy, dx), (oh, ow) = (
            self.kernel,
            self.stride,
            self.dilation,
            self.result,
        )
        need = ((oh - 1) * sy + (kh - 1) * dy + 1, (ow - 1) * sx + (kw - 1) * dx + 1)
        require(
            need[0] <= h and need[1] <= w,
            f"a result of {oh} x {ow} needs {need[0]} x {need[1]} padded inputs, not {h} x {w}",
        )
        sn, sc, sh, sw = padded.strides
        return np.ndarray(
            (n, c, oh, ow, kh, kw),
            padded.dtype,
            padded,
            0,
            (sn, sc, sh * sy, sw * sx, sh * dy, sw * dx),
        )

    def _inserted(self, values: Array) -> Array:
        iy, ix = self.insertion
        if not iy and not ix:
            return values
        n, c, h, w = values.shape
        out = np.zeros((n, c, (h - 1) * (iy + 1) + 1, (w - 1) * (ix + 1) + 1), values.dtype)
        out[:, :, :: iy + 1, :: ix + 1] = values
        return out


def window_of(command: Command) -> Window:
    """The window fields, shared by sCONV and sPorD; raises TpuError for a pad mode but 0."""
    require(command["pad_mode"] == 0, f"pad_mode {command['pad_mode']}: only 0 is simulated")
    return Window(
        kernel=(command["opd1_h"], command["opd1_w"]),
        stride=(command["res_op_y_str"], command["res_op_x_str"]),
        dilation=(command["opd1_y_ins0"] + 1, command["opd1_x_ins0"] + 1),
        insertion=(command["opd0_y_ins0"], command["opd0_x_ins0"]),
        pads=(
            command["opd0_up_pad"],
            command["opd0_dn_pad"],
            command["opd0_lf_pad"],
            command["opd0_rt_pad"],
        ),
        result=(command["res0_h"], command["res0_w"]),
    )
