"""Programs whose figures are known."""

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.program import IoTensor, Program
from xdsl_tpu.backend.tensor import DType, aligned, contiguous

CHIP = load_chip()
SHAPE = (1, 64, 64, 64)  # 16 KiB per lane in f32: 1024 passes of 16 elements


def overlapping() -> Program:
    """Layer a: load, copy, store; layer b: load, copy, whose load runs beside a's copy."""
    program = Program("net", CHIP.name, "F32")
    program.outputs = [IoTensor("y", CHIP.ddr_base, SHAPE, DType.F32)]
    emitter = Emitter(CHIP, program)
    a, b, c, d = (aligned(CHIP, i * 16384, SHAPE, DType.F32) for i in range(4))
    first, second = (contiguous(CHIP.ddr_base + i * (1 << 20), SHAPE, DType.F32) for i in range(2))
    emitter.move(second, first)  # no layer
    with emitter.layer("a", "tpu.Relu"):
        emitter.load(a, first)
        emitter.copy(b, a)
    with emitter.layer("b", "tpu.Add"):
        emitter.load(c, second)
        emitter.copy(d, c)
        emitter.store(second, d)
    emitter.finish()
    return program
