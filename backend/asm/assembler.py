"""Text as a program."""

import hashlib
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.asm.command_parser import parse_command
from xdsl_tpu.backend.asm.lexer import Line, Token, describe, suggestion
from xdsl_tpu.backend.isa import InstructionSet, load_instruction_set
from xdsl_tpu.backend.isa.instruction_set import DEFAULT
from xdsl_tpu.backend.program import IoTensor, Layer, Program
from xdsl_tpu.backend.tensor import DType
from xdsl_tpu.dialects.errors import TpuError

_NO_LAYER = -1
_DTYPES = {dtype.label: dtype for dtype in DType}
_LARGEST_IMAGE = 1 << 32
"""Bytes; more than the memory of the chip is a typing error, not a program."""


def assemble(
    text: str,
    file: str = "<string>",
    coefficients: npt.NDArray[np.uint8] | None = None,
    instructions: str = DEFAULT,
) -> Program:
    """The program of an instruction set that a text describes.

    The text gives only place, size and hash of the coefficients. Without `coefficients` the
    program's are zeros. Raises AsmError (`file:line:column: message`) for what cannot be read,
    TpuError when `coefficients` are not those of the text.
    """
    reader = _Reader(load_instruction_set(instructions))
    for number, content in enumerate(text.split("\n"), 1):
        line = Line(content.removesuffix("\r"), number, file)
        if not line.ended:
            reader.read(line)
    return reader.finish(file, coefficients)


_REPEATED = (".input", ".output", ".layer", ".core")
"""Directives that may come more than once."""


class _Reader:
    """The program as far as it has been read."""

    def __init__(self, instructions: InstructionSet) -> None:
        self._instructions = instructions
        self.program = Program("model", "BM1684X", "")
        self._core = self.program
        self._layer = _NO_LAYER
        self._layers: dict[int, Layer] = {}
        self._given: set[str] = set()
        self._size = 0
        self._sha256: str | None = None
        self._directives: dict[str, Callable[[Line], None]] = {
            ".program": self._read_name,
            ".chip": self._read_chip,
            ".quantize": self._read_quantize,
            ".coefficients": self._read_coefficients,
            ".apart": self._read_apart,
            ".arena": self._read_arena,
            ".input": lambda line: self.program.inputs.append(_tensor(line)),
            ".output": lambda line: self.program.outputs.append(_tensor(line)),
            ".layer": self._read_layer,
            ".core": self._read_core,
        }

    def read(self, line: Line) -> None:
        """One line that is not empty."""
        if line.peek.text.startswith("."):
            self._read_directive(line)
        else:
            command = parse_command(line, self._instructions)
            self._core.queue(command.engine).append(command)
            self._core.layer_indices(command.engine).append(self._layer)
        if not line.ended:
            line.fail(line.peek, f"unexpected '{line.peek.text}'")

    def _read_directive(self, line: Line) -> None:
        name = line.take()
        read = self._directives.get(name.text)
        if read is None:
            hint = suggestion(name.text, list(self._directives))
            line.fail(name, f"unknown directive '{name.text}'{hint}")
        if name.text in self._given and name.text not in _REPEATED:
            line.fail(name, f"'{name.text}' is given twice")
        self._given.add(name.text)
        read(line)

    def _read_name(self, line: Line) -> None:
        self.program.name = line.string("the program's name")

    def _read_chip(self, line: Line) -> None:
        self.program.chip = line.string("the chip's name")

    def _read_quantize(self, line: Line) -> None:
        self.program.quantize = line.string("the number format")

    def _read_coefficients(self, line: Line) -> None:
        line.expect("@")
        self.program.coefficient_address = line.integer()
        self._size = _size(line)
        if not line.ended:
            _key(line, "sha256")
            self._sha256 = line.string("the hash")

    def _read_arena(self, line: Line) -> None:
        line.expect("@")
        self.program.arena_address = line.integer()
        self.program.arena_bytes = _size(line)

    def _read_apart(self, line: Line) -> None:
        line.expect("@")
        self.program.io_address = line.integer()
        self.program.io_bytes = _size(line)

    def _read_layer(self, line: Line) -> None:
        """`.layer none`, or `.layer 3 tpu.Conv "name"`, with `zeros=0.5` behind it where so much of
        its weights is zero: the commands that follow are its."""
        start = line.peek
        if line.accept("none"):
            self._layer = _NO_LAYER
            return
        index = line.integer()
        op = line.string("the op") if line.peek.kind == "string" else line.word("the op").text
        name = line.string("the layer's name")
        layer = Layer(name, op, 0.0 if line.ended else _share(line, "zeros"))
        known = self._layers.setdefault(index, layer)
        if known != layer:
            line.fail(start, f"layer {index} is {known.op} '{known.name}' further up")
        self._layer = index

    def _read_core(self, line: Line) -> None:
        """`.core 1`: the commands that follow are of that core; the first has no such line."""
        start = line.peek
        number = line.integer()
        if number != len(self.program.cores):
            line.fail(start, f"core {number} is given where core {len(self.program.cores)} is next")
        self._core, self._layer = self.program.beside(), _NO_LAYER

    def finish(self, file: str, coefficients: npt.NDArray[np.uint8] | None) -> Program:
        """The program, when all of the text has been read."""
        layers = self._layers
        missing = next((index for index in range(len(layers)) if index not in layers), None)
        if missing is not None:
            raise TpuError(f"{file}: layer {missing} is not declared, but layer {max(layers)} is")
        for core in self.program.cores:
            core.layers = [layers[index] for index in range(len(layers))]
            core.coefficients = self._image(file, coefficients)
        return self.program

    def _image(
        self, file: str, coefficients: npt.NDArray[np.uint8] | None
    ) -> npt.NDArray[np.uint8]:
        if coefficients is None:
            return np.zeros(self._size, np.uint8)
        if coefficients.size != self._size:
            raise TpuError(
                f"{file}: the program has {self._size} bytes of coefficients, "
                f"{coefficients.size} are given"
            )
        digest = hashlib.sha256(coefficients.tobytes()).hexdigest()
        if self._sha256 is not None and digest != self._sha256:
            raise TpuError(f"{file}: the coefficients given are others (their SHA-256 differs)")
        return coefficients


def _key(line: Line, name: str) -> Token:
    token = line.word(f"{name}=")
    if token.text != name:
        line.fail(token, f"expected {name}=, found '{token.text}'")
    line.expect("=")
    return line.peek


def _share(line: Line, name: str) -> float:
    token = _key(line, name)
    try:
        share = float(line.take().text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        line.fail(token, f"expected a number from 0 to 1, found {describe(token)}")
    return share


def _size(line: Line) -> int:
    token = _key(line, "size")
    size = line.integer()
    if size > _LARGEST_IMAGE:
        line.fail(token, f"{size} bytes are more than a program can have ({_LARGEST_IMAGE})")
    return size


def _tensor(line: Line) -> IoTensor:
    """`"name" [1,3,224,224]@0x103000000:f16`."""
    name = line.string("the tensor's name")
    line.expect("[")
    shape = tuple(line.integers("]"))
    line.expect("@")
    address = line.integer()
    line.expect(":")
    token = line.word("a type")
    if token.text not in _DTYPES:
        known = list(_DTYPES)
        hint = suggestion(token.text, known) or f"; known: {', '.join(known)}"
        line.fail(token, f"unknown type '{token.text}'{hint}")
    return IoTensor(name, address, shape, _DTYPES[token.text])
