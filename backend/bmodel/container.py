"""bmodel files: a header, a flatbuffer and a binary section (bmodel format reference).

The commands and the coefficient image are written as the chip takes them. No firmware is
included. The layer of each command travels in the `tensor_loc` range, as JSON, so that a
profile of the file alone can name layers; other readers skip it.
"""

import hashlib
import json
import math
import os
import struct
import tempfile
from pathlib import Path
from typing import Any, cast

import numpy as np

from xdsl_tpu.backend.bmodel.flatbuffer import read_root, write_root
from xdsl_tpu.backend.isa import Command, Engine, decode_stream, encode
from xdsl_tpu.backend.program import IoTensor, Layer, Program
from xdsl_tpu.backend.tensor import DType, align
from xdsl_tpu.dialects.errors import TpuError

MAGIC = 0xFF55AAEE
HEADER_BYTES = 64
PAGE = 4096
QUEUE_UNIT = 128  # both command buffers are padded to a multiple of this
VERSION = "2.2+v1.30.2-xdsl-tpu"

_DATA_TYPES = {
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
_DTYPES = {code: dtype for dtype, code in _DATA_TYPES.items()}
_INPUT, _OUTPUT = 1, 2


class _Sections:
    """The binary section while it grows: every range starts on a page."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []
        self.size = 0

    def add(self, data: bytes) -> dict[str, int]:
        """Append data; returns its `Binary` range."""
        place = {"start": self.size, "size": len(data)}
        padded = align(len(data), PAGE)
        self.chunks.append(data + bytes(padded - len(data)))
        self.size += padded
        return place


def write_bmodel(program: Program, path: Path) -> None:
    """Write a program to a bmodel file, atomically. Raises OSError when that is impossible."""
    sections = _Sections()
    coefficients = program.coefficients.tobytes()
    coeff_range = sections.add(coefficients)
    queues = {e: _queue_bytes(program.queue(e)) for e in Engine}
    ranges = {e: sections.add(queues[e]) for e in Engine}
    group = {
        "bdc_num": len(program.tiu),
        "gdma_num": len(program.gdma),
        "binary_bdc": ranges[Engine.TIU],
        "binary_gdma": ranges[Engine.GDMA],
        "bdc_cmd_byte": len(queues[Engine.TIU]),
        "gdma_cmd_byte": len(queues[Engine.GDMA]),
    }
    inputs = [_tensor(t, _INPUT) for t in program.inputs]
    outputs = [_tensor(t, _OUTPUT) for t in program.outputs]
    subnet = {
        "cmd_group": [group],
        "input_tensor": inputs,
        "output_tensor": outputs,
        "id": 0,
        "next_subnet_ids": [-1],
    }
    parameter = {
        "input_tensor": inputs,
        "output_tensor": outputs,
        "ctx_addr": program.arena_address,
        "ctx_size": program.arena_bytes,
        "coeff_mem": {
            "address": program.coefficient_address,
            "check_code": hashlib.sha256(coefficients).digest(),
            "binary_coeff": coeff_range,
        },
        "cmd_group": [group],
        "sub_net": [subnet],
        "ctx_sizes": [program.arena_bytes],
        "core_num": 1,
        "tensor_loc": sections.add(_layer_bytes(program)),
    }
    model = {
        "type": "B",
        "version": VERSION,
        "time": "",
        "chip": program.chip,
        "net": [{"name": program.name, "parameter": [parameter]}],
        "neuron_size": program.arena_bytes,
        "device_num": 1,
    }
    root = write_root("Model", model)
    root += bytes(align(HEADER_BYTES + len(root), PAGE) - HEADER_BYTES - len(root))
    header = struct.pack("<IIIQ", MAGIC, HEADER_BYTES, len(root), sections.size)
    _write_atomically(path, [header.ljust(HEADER_BYTES, b"\0"), root, *sections.chunks])


def _write_atomically(path: Path, chunks: list[bytes]) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(chunks)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _queue_bytes(commands: list[Command]) -> bytes:
    data = b"".join(encode(command) for command in commands)
    return data + bytes(align(len(data), QUEUE_UNIT) - len(data))


def _tensor(tensor: IoTensor, hidden: int) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "data_type": _DATA_TYPES[tensor.dtype],
        "device_addr": tensor.address,
        "size": int(np.prod(tensor.shape)) * tensor.dtype.bytes,
        "shape": [{"dim": list(tensor.shape)}],
        "mem_type": 1,
        "scale": 1.0,
        "hidden": hidden,
    }


def _layer_bytes(program: Program) -> bytes:
    layers = {
        "quantize": program.quantize,
        "layers": [[layer.name, layer.op] for layer in program.layers],
        "tiu": program.tiu_layers,
        "gdma": program.gdma_layers,
    }
    return json.dumps(layers, separators=(",", ":")).encode()


def read_bmodel(path: Path) -> Program:
    """Read a bmodel file: one of ours, or the vendor's for one core and static shapes.

    Raises TpuError naming the file when it is no bmodel, damaged, or of a kind not handled.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TpuError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        return _parse(data)
    except TpuError as error:
        raise TpuError(f"{path}: {error}") from error
    except (struct.error, ValueError, IndexError, KeyError, TypeError) as error:
        raise TpuError(f"{path}: the bmodel is damaged ({error})") from error


def _parse(data: bytes) -> Program:
    if len(data) < HEADER_BYTES or struct.unpack_from("<I", data)[0] != MAGIC:
        raise TpuError("not a bmodel file (the magic number is missing)")
    _, header, root_bytes, binary_bytes = struct.unpack_from("<IIIQ", data)
    if len(data) < header + root_bytes + binary_bytes:
        raise TpuError(
            f"the bmodel is cut off: {len(data)} bytes, "
            f"{header + root_bytes + binary_bytes} expected"
        )
    model = read_root("Model", data[header : header + root_bytes])
    section = memoryview(data)[header + root_bytes : header + root_bytes + binary_bytes]
    parameter = _single_stage(model)
    coeff = parameter.get("coeff_mem", {})
    image = _range(section, coeff.get("binary_coeff", {"start": 0, "size": 0}))
    if coeff and hashlib.sha256(image).digest() != coeff["check_code"]:
        raise TpuError("the coefficients do not match their checksum: the file is damaged")
    (group,) = parameter["cmd_group"]
    program = Program(
        name=model["net"][0]["name"],
        chip=model["chip"],
        quantize="",
        tiu=_queue(section, group["binary_bdc"], Engine.TIU, group["bdc_num"]),
        gdma=_queue(section, group["binary_gdma"], Engine.GDMA, group["gdma_num"]),
        coefficients=np.frombuffer(image, np.uint8),
        coefficient_address=coeff.get("address", 0),
        arena_address=parameter["ctx_addr"],
        arena_bytes=parameter["ctx_size"],
        inputs=[_io(t) for t in parameter["input_tensor"]],
        outputs=[_io(t) for t in parameter["output_tensor"]],
    )
    _read_layers(program, _range(section, parameter.get("tensor_loc", {"start": 0, "size": 0})))
    return program


def _single_stage(model: dict[str, Any]) -> dict[str, Any]:
    """The only stage of the only net; anything else is refused."""
    nets = model.get("net", [])
    if len(nets) != 1 or len(nets[0].get("parameter", [])) != 1:
        raise TpuError("only bmodels with one net and one input shape are supported")
    parameter: dict[str, Any] = nets[0]["parameter"][0]
    if parameter.get("is_dynamic") or len(parameter.get("cmd_group", [])) != 1:
        raise TpuError("only static single-core bmodels with one command group are supported")
    return parameter


def _range(section: memoryview, place: dict[str, int]) -> memoryview:
    start, size = place["start"], place["size"]
    if start + size > len(section):
        raise TpuError(f"a range of the binary section ends at {start + size} of {len(section)}")
    return section[start : start + size]


def _queue(section: memoryview, place: dict[str, int], engine: Engine, count: int) -> list[Command]:
    return list(decode_stream(_range(section, place), engine, count))


def _io(tensor: dict[str, Any]) -> IoTensor:
    shape = tuple(tensor["shape"][0]["dim"])
    dtype = _DTYPES[tensor.get("data_type", 0)]
    if math.prod(shape) * dtype.bytes != tensor["size"]:
        raise ValueError(f"tensor '{tensor['name']}', {shape}: its size is {tensor['size']}")
    return IoTensor(tensor["name"], tensor["device_addr"], shape, dtype)


def _read_layers(program: Program, data: memoryview) -> None:
    """Layer names, when the file carries ours; otherwise no command has a layer."""
    program.tiu_layers = [-1] * len(program.tiu)
    program.gdma_layers = [-1] * len(program.gdma)
    try:
        tags: Any = json.loads(bytes(data))
    except ValueError:
        return
    if not isinstance(tags, dict) or "tiu" not in tags:
        return
    tags = cast(dict[str, Any], tags)
    program.quantize = str(tags["quantize"])
    program.layers = [Layer(str(name), str(op)) for name, op in tags["layers"]]
    program.tiu_layers = _layer_indices(tags["tiu"], program, Engine.TIU)
    program.gdma_layers = _layer_indices(tags["gdma"], program, Engine.GDMA)


def _layer_indices(indices: list[int], program: Program, engine: Engine) -> list[int]:
    """One index into the layers, or -1, per command of the engine."""
    allowed = range(-1, len(program.layers))
    if len(indices) != len(program.queue(engine)) or any(i not in allowed for i in indices):
        raise ValueError(f"the layers of the {engine.value} commands are not in the file")
    return indices
