"""A small clean program, and changing one command of it."""

from pathlib import Path

import numpy as np
from tests.machine.golden_traces import Trace, load_trace

from xdsl_tpu.backend.asm import assemble
from xdsl_tpu.backend.checks import Finding, check_program
from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.program import IoTensor, Program
from xdsl_tpu.backend.tensor import DType, Shape4, aligned, contiguous

CHIP = load_chip("bm1684x")
WEIGHTS = CHIP.ddr_base
ARENA = CHIP.ddr_base + 0x10000
X, Y = ARENA, ARENA + 0x4000
SHAPE: Shape4 = (1, 70, 4, 8)

PROGRAM = """
.program "one command"
.arena @0x100000000 size=0x100000
.input "x" [1,1,256,512]@0x100000000:f32
.layer 0 tpu.Some "here"
{command}
.layer none
SYSID.end id={tiu} dep=0
sDMA_sys.end_of_stream id={gdma} dep=0
"""

TRACES = Path(__file__).parents[1] / "data" / "golden" / "traces"


def sample() -> Program:
    """y = x + w, then y again: w is loaded while nothing runs, x and y travel through lanes.

    GDMA: 1 load x, 2 load w, 3 store y, 4 end. TIU: 1 add, 2 copy, 3 end.
    """
    program = Program("sample", CHIP.name, "F16", coefficient_address=WEIGHTS)
    program.coefficients = np.zeros(70 * 32 * 2, np.uint8)
    program.arena_address, program.arena_bytes = ARENA, 0x8000
    program.inputs = [IoTensor("x", X, SHAPE, DType.F16)]
    program.outputs = [IoTensor("y", Y, SHAPE, DType.F16)]
    emitter = Emitter(CHIP, program)
    x, w, y = (aligned(CHIP, at, SHAPE, DType.F16) for at in (0, 0x1000, 0x2000))
    with emitter.layer("sum", "tpu.Add"):
        emitter.load(x, contiguous(X, SHAPE, DType.F16))
        emitter.load(w, contiguous(WEIGHTS, SHAPE, DType.F16))
        emitter.arith(Arith.ADD, y, x, w)
    with emitter.layer("again", "tpu.Copy"):
        emitter.copy(x, y)
        emitter.store(contiguous(Y, SHAPE, DType.F16), x)
    emitter.finish()
    return program


def findings_of(command: str) -> list[Finding]:
    """What is found in a program of this one command, in the notation of the assembler."""
    gdma = command.startswith("DMA")
    text = PROGRAM.format(command=f"{command} id=1 dep=0", tiu=2 - gdma, gdma=1 + gdma)
    return check_program(assemble(text), CHIP)


def change(program: Program, engine: Engine, identity: int, **fields: int) -> None:
    """Set fields of the command with this 1-based number."""
    queue = program.queue(engine)
    old = queue[identity - 1]
    queue[identity - 1] = Command(old.form, {**old.fields, **fields})


def traced(name: str) -> Program:
    """A recorded stream of the vendor's compiler as a program."""
    trace = load_trace(TRACES / f"{name}.npz")
    meta, count = trace.meta, len(trace.commands)
    coefficients: int = meta["ctx_addr"] - CHIP.ddr_base
    return Program(
        name,
        CHIP.name,
        "",
        tiu=trace.queue(Engine.TIU, count),
        gdma=trace.queue(Engine.GDMA, count),
        coefficients=np.zeros(coefficients, np.uint8),
        coefficient_address=CHIP.ddr_base,
        arena_address=meta["ctx_addr"],
        arena_bytes=meta["ctx_size"],
        inputs=_ports(trace, "input"),
        outputs=_ports(trace, "output"),
    )


def _ports(trace: Trace, kind: str) -> list[IoTensor]:
    return [
        IoTensor(port["name"], CHIP.ddr_base + port["addr"], tuple(port["shape"]), DType.F32)
        for port in trace.meta["io"]
        if port["kind"] == kind
    ]
