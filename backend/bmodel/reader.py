"""Reading bmodel files, whoever wrote them: nothing in the file is trusted.

A file may be damaged or made to harm: every size and offset is checked against what is there, and
what is decoded is limited by the size of the file (`flatbuffer.read_root`).
"""

import hashlib
import json
import math
import struct
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, cast

import numpy as np

from xdsl_tpu.backend.bmodel.container import DATA_TYPES, HEADER_BYTES, MAGIC, io_shift
from xdsl_tpu.backend.bmodel.flatbuffer import read_root
from xdsl_tpu.backend.chip import known_chips, load_chip
from xdsl_tpu.backend.chip.identity import figures_of
from xdsl_tpu.backend.isa import Command, Engine, load_instruction_set
from xdsl_tpu.backend.isa.instruction_set import DEFAULT, InstructionSet
from xdsl_tpu.backend.program import IoTensor, Layer, Program
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.input_ranges import InputRange
from xdsl_tpu.dialects.random_masks import RandomMask

ADDRESS_BITS = 40
"""Of the GDMA's addresses; nothing of a program lies beyond."""

_DTYPES = {code: dtype for dtype, code in DATA_TYPES.items()}
_DAMAGE = (struct.error, LookupError, OverflowError, RecursionError, TypeError, ValueError)
_LARGEST = 1 << 62
"""Of the numbers that an input may be."""
_NOWHERE = {"start": 0, "size": 0}


def read_bmodel(path: Path) -> Program:
    """Read a bmodel file: one of ours, or the vendor's for static shapes.

    Raises TpuError naming the file when it is no bmodel, damaged, or of a kind not handled.
    """
    file = Bmodel(path)
    if len(file.names) != 1 or file.stages(file.names[0]) != 1:
        nets = f"{len(file.names)} nets ({', '.join(file.names[:3])}, ..)"
        held = nets if len(file.names) != 1 else f"{file.stages(file.names[0])} input shapes"
        raise TpuError(
            f"{path}: it holds {held}; what runs by itself has one net for one input shape, and "
            "language models are run by tpu-generate"
        )
    return file.read(file.names[0])


class Bmodel:
    """A bmodel file, whose nets (`names`, in the order of the file) are read when asked for.

    Raises TpuError as `read_bmodel`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            data: Any = np.zeros(0, np.uint8)
            if path.stat().st_size:  # nothing cannot be mapped
                data = np.memmap(path, np.uint8, mode="r")
        except OSError as error:
            raise TpuError(f"{path}: cannot be read: {error.strerror}") from error
        with self._damage():
            self._model, self._section = _root(memoryview(data))
            found: list[dict[str, Any]] = self._model.get("net", [])
            self.names = [str(net["name"]) for net in found]
            self._nets = dict(zip(self.names, found, strict=True))
        self._known = _Known()

    def stages(self, name: str) -> int:
        """In how many forms a net is there. Raises TpuError when there is no such net."""
        return len(self._net(name).get("parameter", []))

    def shapes(self, name: str, stage: int = 0) -> dict[str, tuple[int, ...]]:
        """The inputs of a net in one of its forms, and their shapes, by which a form is chosen.

        Raises TpuError as `read_bmodel`.
        """
        with self._damage():
            inputs = self._net(name)["parameter"][stage]["input_tensor"]
            return {str(one["name"]): tuple(one["shape"][0]["dim"]) for one in inputs}

    def read(self, name: str, stage: int = 0) -> Program:
        """A net in one of its forms. Raises TpuError as `read_bmodel`."""
        with self._damage():
            net = self._net(name)
            return _parse(self._model, net, net["parameter"][stage], self._section, self._known)

    def _net(self, name: str) -> dict[str, Any]:
        if name not in self._nets:
            raise TpuError(f"no net '{name}'; there are {', '.join(self._nets)}")
        return self._nets[name]

    @contextmanager
    def _damage(self) -> Generator[None]:
        """What a damaged file makes fail, in one message that names the file."""
        try:
            yield
        except TpuError as error:
            raise TpuError(f"{self.path}: {error}") from error
        except _DAMAGE as error:
            raise TpuError(f"{self.path}: the bmodel is damaged ({error})") from error


def _root(data: memoryview) -> tuple[dict[str, Any], memoryview]:
    """The tables of a file, and its binary section."""
    if len(data) < HEADER_BYTES or struct.unpack_from("<I", data)[0] != MAGIC:
        raise TpuError(
            "not a bmodel file (the magic number is missing); tpu-compile MODEL makes one"
        )
    _, header, root_bytes, binary_bytes = struct.unpack_from("<IIIQ", data)
    if len(data) < header + root_bytes + binary_bytes:
        raise TpuError(
            f"the bmodel is cut off: {len(data)} bytes, "
            f"{header + root_bytes + binary_bytes} expected"
        )
    model = read_root("Model", bytes(data[header : header + root_bytes]))
    return model, data[header + root_bytes : header + root_bytes + binary_bytes]


@dataclass
class _Known:
    """What nets of a file share and need not be looked at again: queues by their bytes, places of
    coefficients that match their checksums."""

    queues: dict[tuple[str, Engine, int, bytes], list[Command]] = field(
        default_factory=dict[tuple[str, Engine, int, bytes], list[Command]]
    )
    checked: set[tuple[int, int, bytes]] = field(default_factory=set[tuple[int, int, bytes]])

    def queue(
        self, instructions: InstructionSet, engine: Engine, count: int, data: memoryview
    ) -> list[Command]:
        """The commands of a queue."""
        key = instructions.name, engine, count, bytes(data)
        if key not in self.queues:
            self.queues[key] = list(instructions.decode_stream(data, engine, count))
        return list(self.queues[key])


def _parse(
    model: dict[str, Any],
    net: dict[str, Any],
    parameter: dict[str, Any],
    section: memoryview,
    shared: _Known,
) -> Program:
    _check_static(parameter)
    coeff: dict[str, Any] = parameter.get("coeff_mem", {})
    groups = _command_groups(parameter)
    image = _coefficients(section, coeff, shared)
    tags = _tags(_range(section, parameter.get("tensor_loc", _NOWHERE)))
    figures = _chip_figures(tags.get("chip", {}))
    name = str(model["chip"]).lower()
    usual = figures_of(load_chip(name)) if name in known_chips() else {}
    instructions = load_instruction_set((usual | figures).get("instruction_set", DEFAULT))
    queues = [_queues(group, section, instructions, shared) for group in groups]
    together = range(parameter["io_addr"], parameter["io_addr"] + parameter["io_size"])
    shift = io_shift(figures or usual) if together else 0
    program = Program(
        name=net["name"],
        chip=model["chip"],
        quantize="",
        tiu=queues[0][0],
        gdma=queues[0][1],
        coefficients=np.frombuffer(image, np.uint8),
        coefficient_address=_address("the coefficients", coeff.get("address", 0), len(image)),
        arena_address=_address("the arena", parameter["ctx_addr"], parameter["ctx_size"]),
        arena_bytes=parameter["ctx_size"],
        io_address=_address("the inputs", parameter["io_addr"] - shift, parameter["io_size"]),
        io_bytes=parameter["io_size"],
        inputs=[_io(t, together, shift) for t in parameter["input_tensor"]],
        outputs=[_io(t, together, shift) for t in parameter["output_tensor"]],
    )
    _read_layers(program, tags)
    for (tiu, gdma), known in zip_longest(queues[1:], tags.get("others", [])):
        other = program.beside()
        other.tiu, other.gdma = tiu, gdma
        other.tiu_layers, other.gdma_layers = [-1] * len(tiu), [-1] * len(gdma)
        if known is not None:
            other.tiu_layers = _layer_indices(known[0], other, Engine.TIU)
            other.gdma_layers = _layer_indices(known[1], other, Engine.GDMA)
    program.chip_figures = figures
    return program


def _queues(
    group: dict[str, Any], section: memoryview, instructions: InstructionSet, shared: _Known
) -> tuple[list[Command], list[Command]]:
    """What a core's engines run."""
    bdc, gdma = (_range(section, group[name]) for name in ("binary_bdc", "binary_gdma"))
    return (
        shared.queue(instructions, Engine.TIU, group["bdc_num"], bdc),
        shared.queue(instructions, Engine.GDMA, group["gdma_num"], gdma),
    )


def _check_static(parameter: dict[str, Any]) -> None:
    """Refuse what firmware runs."""
    subnets = parameter.get("sub_net", [])
    if parameter["is_dynamic"] or len(subnets) > 1:
        raise TpuError("only static bmodels of one part are supported")
    if any(subnet["subnet_mode"] or subnet["is_dynamic"] for subnet in subnets):
        raise TpuError("only bmodels whose commands are a static TPU program are supported")


def _command_groups(parameter: dict[str, Any]) -> list[dict[str, Any]]:
    """The only command group of each core: of one core the stage's, or that of its only part."""
    for subnet in parameter.get("sub_net", []):
        if cores := subnet.get("core_commands"):
            return [_only(core.get("gdma_tiu_commands", [])) for core in cores]
    holders: list[dict[str, Any]] = [parameter, *parameter.get("sub_net", [])]
    found: list[list[dict[str, Any]]] = [h["cmd_group"] for h in holders if h.get("cmd_group")]
    return [_only(found[0] if found else [])]


def _only(groups: list[dict[str, Any]]) -> dict[str, Any]:
    if len(groups) != 1:
        raise TpuError(f"only bmodels with one command group are supported, not {len(groups)}")
    return groups[0]


def _coefficients(section: memoryview, coeff: dict[str, Any], shared: _Known) -> memoryview:
    """The coefficient image, compared with its checksum where there is one."""
    image = _range(section, coeff.get("binary_coeff", _NOWHERE))
    if coeff.get("encrypt_mode"):
        raise TpuError("the coefficients are encrypted")
    code, place = coeff.get("check_code"), coeff.get("binary_coeff", _NOWHERE)
    key = place["start"], place["size"], bytes(code or ())
    if code and key not in shared.checked:
        if hashlib.sha256(image).digest() != code:
            raise TpuError("the coefficients do not match their checksum: the file is damaged")
        shared.checked.add(key)
    return image


def _address(what: str, address: int, size: int) -> int:
    """An address of `size` bytes that the chip's address lines reach."""
    if address + size > 1 << ADDRESS_BITS:
        raise TpuError(f"{what} at {address:#x}, {size} bytes, end beyond {ADDRESS_BITS} bits")
    return address


def _range(section: memoryview, place: dict[str, int]) -> memoryview:
    start, size = place["start"], place["size"]
    if start + size > len(section):
        raise TpuError(f"a range of the binary section ends at {start + size} of {len(section)}")
    return section[start : start + size]


def _io(tensor: dict[str, Any], together: range, shift: int) -> IoTensor:
    """An input or output; `shift` is what the file adds to addresses of those that lie together."""
    shape = tuple(tensor["shape"][0]["dim"])
    dtype = _DTYPES[tensor["data_type"]]
    if math.prod(shape) * dtype.bytes != tensor["size"]:
        raise ValueError(f"tensor '{tensor['name']}', {shape}: its size is {tensor['size']}")
    noted = tensor["device_addr"]
    place = noted - shift if noted in together else noted
    address = _address(f"tensor '{tensor['name']}'", place, tensor["size"])
    return IoTensor(tensor["name"], address, shape, dtype)


def _tags(data: memoryview) -> dict[str, Any]:
    """What the file says beyond the container, when it is one of ours; otherwise nothing."""
    try:
        tags: Any = json.loads(bytes(data))
    except (ValueError, RecursionError):
        return {}
    if not isinstance(tags, dict) or "tiu" not in tags:
        return {}
    return cast(dict[str, Any], tags)


def _read_layers(program: Program, tags: dict[str, Any]) -> None:
    """Layer names, when the file carries them; otherwise no command has a layer."""
    program.tiu_layers = [-1] * len(program.tiu)
    program.gdma_layers = [-1] * len(program.gdma)
    if not tags:
        return
    program.quantize = str(tags["quantize"])
    program.layers = [_layer(*one) for one in tags["layers"]]
    program.tiu_layers = _layer_indices(tags["tiu"], program, Engine.TIU)
    program.gdma_layers = _layer_indices(tags["gdma"], program, Engine.GDMA)
    program.random_masks = _random_masks(tags.get("random_masks", {}), program)
    program.input_ranges = _input_ranges(tags.get("input_ranges", {}), program)


def _layer(name: Any, op: Any, zeros: Any = 0.0) -> Layer:
    """A layer, and what part of its weights is zero."""
    if not 0.0 <= float(zeros) <= 1.0:
        raise ValueError(f"{zeros} is no part of the weights of '{name}'")
    return Layer(str(name), str(op), float(zeros))


def _random_masks(masks: dict[str, Any], program: Program) -> dict[str, RandomMask]:
    """Seed and rate of each input that is a mask."""
    inputs = {tensor.name for tensor in program.inputs}
    found: dict[str, RandomMask] = {}
    for name, (seed, rate) in masks.items():
        if name not in inputs or type(seed) is not int or not 0.0 <= float(rate) <= 1.0:
            raise ValueError(f"random mask '{name}' is no input, or has no seed and rate")
        found[name] = RandomMask(seed, float(rate))
    return found


def _input_ranges(ranges: dict[str, Any], program: Program) -> dict[str, InputRange]:
    """The numbers that each input may be which is not just any."""
    inputs = {tensor.name for tensor in program.inputs}
    found: dict[str, InputRange] = {}
    for name, (low, high) in ranges.items():
        limited = all(type(one) is int and abs(one) <= _LARGEST for one in (low, high))
        if name not in inputs or not limited or low >= high:
            raise ValueError(f"the range of '{name}' is of no input, or is no range")
        found[name] = InputRange(low, high)
    return found


def _chip_figures(figures: Any) -> dict[str, Any]:
    """The chip that the program notes; that it is the one at hand is for others to check."""
    if not isinstance(figures, dict):
        raise ValueError("the chip of the program is no list of figures")
    return cast(dict[str, Any], figures)


def _layer_indices(indices: list[int], program: Program, engine: Engine) -> list[int]:
    """One index into the layers, or -1, per command of the engine."""
    allowed = range(-1, len(program.layers))
    right = all(type(index) is int and index in allowed for index in indices)
    if len(indices) != len(program.queue(engine)) or not right:
        raise ValueError(f"the layers of the {engine.value} commands are not in the file")
    return indices
