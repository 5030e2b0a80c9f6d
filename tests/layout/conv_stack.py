"""The convolutions of a ResNet-101 as a OneFlow job: 104 of them, with norms, sums and a pool.

That is the network the auto-NHWC article measures (inference, so norms have moving statistics).
Channels are a few only: transpositions do not depend on how many there are.
"""

from tests.oneflow.jobs import conv, norm, pool
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import oneflow
from xdsl_tpu.dialects.oneflow import JobBuilder

DEPTHS = (3, 4, 23, 3)
"""Bottleneck blocks in the four stages."""

FIRST, LAST = (0, 3, 1, 2), (0, 2, 3, 1)


def conv_stack(
    depths: tuple[int, ...] = DEPTHS, *, width: int = 4, surrounded: bool = False
) -> ModuleOp:
    """The job, without values for its variables.

    When `surrounded`, convolutions and pools are channel-last and have transpositions around
    them: what inserting them around each op gives before any are removed.
    """
    job = JobBuilder("resnet101")
    stack = _Stack(job, surrounded)
    x = stack.conv("stem", job.input("image", 1, 3, 64, 64), width, 7, 2)
    x = stack.pool(x)
    for stage, depth in enumerate(depths):
        for block in range(depth):
            stride = 2 if block == 0 and stage > 0 else 1
            x = stack.block(f"layer{stage + 1}.{block}", x, width << stage, stride, block == 0)
    mean = job.op(oneflow.ReduceMeanOp, "mean", x, axis=[2, 3], keepdims=False)
    features = (width << (len(depths) - 1)) * 4
    return job.module(job.op(oneflow.MatmulOp, "fc", mean, job.variable("fc.weight", features, 10)))


class _Stack:
    def __init__(self, job: JobBuilder, surrounded: bool) -> None:
        self.job, self.surrounded = job, surrounded

    def conv(
        self, name: str, x: SSAValue, channels: int, kernel: int, stride: int, relu: bool = True
    ) -> SSAValue:
        """A convolution, its norm and its activation."""
        y = conv(self.job, name, self._in(name, x), channels, kernel, stride, last=self.surrounded)
        y = norm(self.job, f"{name}.norm", self._out(name, y))
        return self.job.op(oneflow.ReluOp, f"{name}.relu", y) if relu else y

    def pool(self, x: SSAValue) -> SSAValue:
        """The pool behind the first convolution."""
        x = self._in("pool", x)
        return self._out(
            "pool", pool(self.job, oneflow.MaxPool2DOp, "pool", x, last=self.surrounded)
        )

    def block(self, name: str, x: SSAValue, width: int, stride: int, project: bool) -> SSAValue:
        """1x1, 3x3 and 1x1 convolution, and a sum with the shortcut."""
        y = self.conv(f"{name}.a", x, width, 1, 1)
        y = self.conv(f"{name}.b", y, width, 3, stride)
        y = self.conv(f"{name}.c", y, 4 * width, 1, 1, relu=False)
        if project:
            x = self.conv(f"{name}.shortcut", x, 4 * width, 1, stride, relu=False)
        total = self.job.op(oneflow.AddN2Op, f"{name}.sum", y, x)
        return self.job.op(oneflow.ReluOp, f"{name}.relu", total)

    def _in(self, name: str, x: SSAValue) -> SSAValue:
        if not self.surrounded:
            return x
        return self.job.op(oneflow.TransposeOp, f"{name}_transpose_input_0", x, perm=LAST)

    def _out(self, name: str, y: SSAValue) -> SSAValue:
        if not self.surrounded:
            return y
        return self.job.op(oneflow.TransposeOp, f"{name}_transpose_output_0", y, perm=FIRST)
