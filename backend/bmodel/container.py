"""bmodel files: a header, a flatbuffer and a binary section (docs/hardware/bmodel.md).

The commands and the coefficient image are written as the chip takes them. No firmware is
included. The layer of each command travels in the `tensor_loc` range, as JSON, so that a
profile of the file alone can name layers, and with it the figures of the chip and how to make
inputs that are random masks, ids or positions; other readers skip it.
"""

import hashlib
import json
import os
import shutil
import struct
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from xdsl_tpu.backend.bmodel.flatbuffer import write_root
from xdsl_tpu.backend.isa import Command, EncodingError, Engine, encode
from xdsl_tpu.backend.program import IoTensor, Layer, Program
from xdsl_tpu.backend.tensor import DType, align
from xdsl_tpu.dialects.errors import TpuError

MAGIC = 0xFF55AAEE
HEADER_BYTES = 64
PAGE = 4096
QUEUE_UNIT = 128  # both command buffers are padded to a multiple of this
VERSION = "2.2+v1.30.2-xdsl-tpu"

DATA_TYPES = {
    DType.F32: 0,
    DType.F16: 1,
    DType.I8: 2,
    DType.U8: 3,
    DType.I16: 4,
    DType.U16: 5,
    DType.I32: 6,
    DType.U32: 7,
    DType.BF16: 8,
}
_INPUT, _OUTPUT = 1, 2
IO_ALONE, IO_TAG = 1, 2
"""`addr_mode` of nets whose inputs and outputs lie apart from the arena, together or one by one."""


class _Sections:
    """The binary section while it grows in a file: every range starts on a page."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._known: dict[bytes, dict[str, int]] = {}
        self._image: Any = None
        self._image_place: tuple[bytes, dict[str, int]] = (b"", {})
        self._queues: dict[int, tuple[object, int, dict[str, int]]] = {}
        self.size = 0

    def add(self, data: bytes | memoryview) -> dict[str, int]:
        """Append data; returns its `Binary` range."""
        place = {"start": self.size, "size": len(data)}
        padded = align(len(data), PAGE)
        self._stream.write(data)
        self._stream.write(bytes(padded - len(data)))
        self.size += padded
        return place

    def share(self, image: Any) -> tuple[bytes, dict[str, int]]:
        """The SHA-256 of an array and its range, which equal ones have together."""
        if image is not self._image:
            data = memoryview(np.ascontiguousarray(image))  # pyright: ignore[reportArgumentType]
            digest = hashlib.sha256(data).digest()
            if digest not in self._known:
                self._known[digest] = self.add(data)
            self._image, self._image_place = image, (digest, self._known[digest])
        return self._image_place

    def queue(self, program: Program, engine: Engine) -> tuple[int, dict[str, int]]:
        """Bytes of an engine's commands and their range; programs that have the very same list of
        commands have it together."""
        commands = program.queue(engine)
        if id(commands) not in self._queues:
            data = _queue_bytes(program, engine)
            self._queues[id(commands)] = commands, len(data), self.add(data)
        return self._queues[id(commands)][1:]


def write_bmodel(program: Program, path: Path) -> None:
    """Write a program to a bmodel file, atomically.

    Raises OSError when that is impossible, TpuError for a command whose fields do not fit.
    """
    write_bmodels([program], path)


def write_bmodels(programs: Iterable[Program], path: Path) -> None:
    """Write programs to one bmodel file, atomically: a net for each name, a stage of it for each
    program with that name. Each is asked for when those before it are written.

    Equal coefficient images are stored once, and so are commands that programs share. Raises
    OSError when writing is impossible, TpuError for a command whose fields do not fit, or no
    programs at all.
    """
    nets: dict[str, dict[str, Any]] = {}
    arena = 0
    chip = ""
    with tempfile.TemporaryFile(dir=path.parent) as stream:
        sections = _Sections(stream)
        for program in programs:
            mode = _addr_mode(program)
            apart = {"addr_mode": mode} if mode else {}
            net = nets.setdefault(program.name, {"name": program.name, "parameter": [], **apart})
            net["parameter"].append(_parameter(program, sections))
            arena, chip = max(arena, program.arena_bytes), program.chip
        if not nets:
            raise TpuError("a bmodel needs a program")
        model = {
            "type": "B",
            "version": VERSION,
            "time": "",
            "chip": chip,
            "net": list(nets.values()),
            "neuron_size": arena,
            "device_num": 1,
        }
        root = write_root("Model", model)
        root += bytes(align(HEADER_BYTES + len(root), PAGE) - HEADER_BYTES - len(root))
        header = struct.pack("<IIIQ", MAGIC, HEADER_BYTES, len(root), sections.size)
        stream.seek(0)
        _write_atomically(path, [header.ljust(HEADER_BYTES, b"\0"), root], stream)


def _addr_mode(program: Program) -> int:
    """0 where inputs and outputs lie in the arena or are coefficients."""
    if program.io_bytes:
        return IO_ALONE
    arena = range(program.arena_address, program.arena_address + program.arena_bytes)
    fixed = range(
        program.coefficient_address, program.coefficient_address + program.coefficients.nbytes
    )
    known = all(t.address in arena or t.address in fixed for t in program.inputs + program.outputs)
    return 0 if known else IO_TAG


def _parameter(program: Program, sections: _Sections) -> dict[str, Any]:
    """The NetParameter of a program, its parts in the binary section."""
    check_code, coeff_range = sections.share(program.coefficients)
    groups = [_command_group(core, sections) for core in program.cores]
    alone = {"cmd_group": groups} if len(groups) == 1 else {}
    commands = alone or {
        "core_commands": [{"gdma_tiu_commands": [group]} for group in groups],
        "run_core": len(groups),
    }
    numbered = bool(program.io_bytes)
    inputs, outputs = _tensors(program, _INPUT), _tensors(program, _OUTPUT)
    place = {"io_addr": _in_file(program, program.io_address), "io_size": program.io_bytes}
    apart = place if numbered else {}
    subnet = {
        **commands,
        "input_tensor": inputs,
        "output_tensor": outputs,
        "id": 0,
        "next_subnet_ids": [-1],
    }
    return {
        "input_tensor": inputs,
        "output_tensor": outputs,
        "ctx_addr": program.arena_address,
        "ctx_size": program.arena_bytes,
        "coeff_mem": {
            "address": program.coefficient_address,
            "check_code": check_code,
            "binary_coeff": coeff_range,
        },
        **alone,
        "sub_net": [subnet],
        "ctx_sizes": [program.arena_bytes],
        "core_num": len(groups),
        **apart,
        "tensor_loc": sections.add(_layer_bytes(program)),
    }


def _command_group(program: Program, sections: _Sections) -> dict[str, Any]:
    """The queues of a core."""
    tiu_bytes, tiu_range = sections.queue(program, Engine.TIU)
    gdma_bytes, gdma_range = sections.queue(program, Engine.GDMA)
    return {
        "bdc_num": len(program.tiu),
        "gdma_num": len(program.gdma),
        "binary_bdc": tiu_range,
        "binary_gdma": gdma_range,
        "bdc_cmd_byte": tiu_bytes,
        "gdma_cmd_byte": gdma_bytes,
    }


def _write_atomically(path: Path, chunks: list[bytes], rest: IO[bytes]) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(chunks)
            shutil.copyfileobj(rest, stream, 1 << 20)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _queue_bytes(program: Program, engine: Engine) -> bytes:
    commands = zip(program.queue(engine), program.layer_indices(engine), strict=True)
    data = b"".join(_encoded(program, command, layer) for command, layer in commands)
    return data + bytes(align(len(data), QUEUE_UNIT) - len(data))


def _encoded(program: Program, command: Command, layer: int) -> bytes:
    """The bytes of a command; an error names the layer it comes from."""
    try:
        return encode(command)
    except EncodingError as error:
        if layer < 0:
            raise
        place = program.layers[layer]
        raise TpuError(
            f"{place.op} '{place.name}': its sizes are beyond what one command holds: {error}"
        ) from error


def io_shift(figures: Mapping[str, Any]) -> int:
    """What a file adds to addresses of inputs and outputs that lie all together, by the figures of
    a chip (`figures_of`)."""
    named = figures.get("io_base_in_files", 0)
    return named - figures.get("io_base", 0) if named else 0


def _in_file(program: Program, address: int) -> int:
    """What a file calls an address of an input or output."""
    together = range(program.io_address, program.io_address + program.io_bytes)
    return address + io_shift(program.chip_figures) if address in together else address


def _tensors(program: Program, hidden: int) -> list[dict[str, Any]]:
    """Inputs or outputs, with their places in the list if those lie apart."""
    tensors = program.inputs if hidden == _INPUT else program.outputs
    numbers = [{"index": index} if program.io_bytes else {} for index in range(len(tensors))]
    return [
        {**_tensor(t, hidden, _in_file(program, t.address)), **n}
        for t, n in zip(tensors, numbers, strict=True)
    ]


def _tensor(tensor: IoTensor, hidden: int, address: int) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "data_type": DATA_TYPES[tensor.dtype],
        "device_addr": address,
        "size": int(np.prod(tensor.shape)) * tensor.dtype.bytes,
        "shape": [{"dim": list(tensor.shape)}],
        "mem_type": 1,
        "scale": 1.0,
        "hidden": hidden,
    }


def _plain(layer: Layer) -> Iterator[str | float]:
    yield from (layer.name, layer.op)
    if layer.zeros:
        yield layer.zeros


def _layer_bytes(program: Program) -> bytes:
    layers: dict[str, Any] = {
        "quantize": program.quantize,
        "layers": [list(_plain(layer)) for layer in program.layers],
        "tiu": program.tiu_layers,
        "gdma": program.gdma_layers,
    }
    if program.others:
        layers["others"] = [[core.tiu_layers, core.gdma_layers] for core in program.others]
    if program.chip_figures:
        layers["chip"] = program.chip_figures
    if program.input_ranges:
        ranges = program.input_ranges.items()
        layers["input_ranges"] = {name: [one.low, one.high] for name, one in ranges}
    if program.random_masks:
        masks = program.random_masks.items()
        layers["random_masks"] = {name: [mask.seed, mask.rate] for name, mask in masks}
    return json.dumps(layers, separators=(",", ":")).encode()
