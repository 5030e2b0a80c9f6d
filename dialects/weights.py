"""Weights: arrays by tensor name, read lazily from npz files, changed in memory, saved whole.

An npz file is a zip archive with one `.npy` member per array; keys are the location names of the
`top.Weight` ops. Element types are numpy's, except that numpy has no bf16: a bf16 array is stored
as uint16 holding the upper halves of the float32 bit patterns, and the tensor type of the op
tells it from real uint16. `as_float32` and `from_float32` convert.
"""

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import IO, Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.module_info import module_info
from xdsl_tpu.dialects.traits import StoredValues

Array = npt.NDArray[Any]

WEIGHT_FILE = "module.weight_file"
"""The module attribute that names the npz file."""

_SUFFIX = ".npy"
_CHUNK = 1 << 20
"""Bytes that are copied at a time."""

_LENGTHS = "<26x2H"
"""The head of a member, which ends with the lengths of its name and of what else is before it."""

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the oldest date zip knows: equal weights give equal files


class MissingWeightError(TpuError, KeyError):
    """No weight has the name asked for."""

    __str__ = Exception.__str__


class _Archive:
    """One npz file, open for reading single arrays.

    A member's checksum is compared when it is read for the first time, which takes several times
    as long as reading it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._sound: dict[str, int] = {}
        """Members whose checksum was right, and where their bytes begin."""
        try:
            self._zip = zipfile.ZipFile(path)
        except FileNotFoundError:
            raise TpuError(
                f"weight file {path} does not exist: put it there, or import the model again"
            ) from None
        except (OSError, zipfile.BadZipFile) as error:
            raise self._unreadable(error) from error

    def keys(self) -> list[str]:
        names = self._zip.namelist()
        if foreign := [name for name in names if not name.endswith(_SUFFIX)]:
            raise self._unreadable(f"it contains {foreign[0]}, which is no array")
        return [name.removesuffix(_SUFFIX) for name in names]

    def read(self, key: str) -> Array:
        """The array, read only."""
        try:
            array = self._read_again(key) if key in self._sound else self._read_checked(key)
        except (OSError, EOFError, ValueError, zipfile.BadZipFile, zlib.error) as error:
            raise self._unreadable(f"weight {key}: {error}") from error
        array.flags.writeable = False
        return array

    def _read_checked(self, key: str) -> Array:
        info = self._zip.getinfo(key + _SUFFIX)
        with self._zip.open(info) as member:
            array: Array = np.lib.format.read_array(member, allow_pickle=False)
            is_checked = not member.read(1)
        if is_checked and info.compress_type == zipfile.ZIP_STORED:
            file = self._open_file()
            file.seek(info.header_offset)
            lengths = struct.unpack(_LENGTHS, file.read(struct.calcsize(_LENGTHS)))
            self._sound[key] = file.tell() + sum(lengths)
        return array

    def _read_again(self, key: str) -> Array:
        file = self._open_file()
        file.seek(self._sound[key])
        return np.lib.format.read_array(file, allow_pickle=False)

    def _open_file(self) -> IO[bytes]:
        if self._zip.fp is None:
            raise ValueError("it was closed")
        return self._zip.fp

    def copy_member(self, key: str, target: zipfile.ZipFile) -> None:
        """Copy the member's bytes without decoding the array."""
        with target.open(_member(key), "w", force_zip64=True) as sink:
            if key in self._sound:
                file, left = self._open_file(), self._zip.getinfo(key + _SUFFIX).file_size
                file.seek(self._sound[key])
                while left and (chunk := file.read(min(left, _CHUNK))):
                    sink.write(chunk)
                    left -= len(chunk)
                return
            with self._zip.open(key + _SUFFIX) as source:
                while chunk := source.read(_CHUNK):
                    sink.write(chunk)

    def close(self) -> None:
        self._zip.close()

    def _unreadable(self, reason: object) -> TpuError:
        return TpuError(
            f"weight file {self.path} cannot be read ({reason}): write it again from the model"
        )


def _member(key: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(key + _SUFFIX, date_time=_EPOCH)


class Weights(MutableMapping[str, Array]):
    """Arrays by tensor name.

    Arrays come back read only and are not kept: copy one, change the copy and assign it. Files
    are never written by assignment or deletion, only by `save`. Later files win over earlier
    ones where both have a name.

        weights = Weights("swin_t.npz")
        weights["conv1.weight"] = weights["conv1.weight"] * 2
        weights.save("scaled.npz")

    Raises:
        TpuError: a file is missing or damaged; a name is unknown (also a KeyError).
    """

    def __init__(self, *paths: str | Path) -> None:
        self._archives = [_Archive(Path(path)) for path in paths]
        self._entries: dict[str, Array | _Archive] = {}
        for archive in self._archives:
            self._entries.update(dict.fromkeys(archive.keys(), archive))

    def __getitem__(self, key: str) -> Array:
        if (entry := self._entries.get(key)) is None:
            raise MissingWeightError(self._missing(key))
        return entry.read(key) if isinstance(entry, _Archive) else entry

    def __setitem__(self, key: str, value: npt.ArrayLike) -> None:
        array: Array = np.asarray(value).view()
        if array.dtype.hasobject:
            raise TpuError(f"weight {key}: an array of Python objects cannot be stored")
        array.flags.writeable = False
        self._entries[key] = array

    def __delitem__(self, key: str) -> None:
        if key not in self._entries:
            raise MissingWeightError(self._missing(key))
        del self._entries[key]

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __enter__(self) -> "Weights":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def files(self) -> tuple[Path, ...]:
        """The npz files the arrays were read from."""
        return tuple(archive.path for archive in self._archives)

    @property
    def changed(self) -> bool:
        """Whether the arrays differ from those of the files: some were assigned or deleted."""
        stored = set[str]().union(*(archive.keys() for archive in self._archives))
        assigned = any(not isinstance(entry, _Archive) for entry in self._entries.values())
        return assigned or stored != self._entries.keys()

    def close(self) -> None:
        """Close the files; arrays assigned since stay, the others can no longer be read."""
        for archive in self._archives:
            archive.close()

    def save(self, path: str | Path) -> None:
        """Write all arrays to one npz file, which appears whole or not at all.

        The same arrays in the same order give the same bytes.

        Raises:
            TpuError: the file cannot be written; whatever was at `path` is still there.
        """
        target = Path(path)
        partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
        try:
            with partial.open("wb") as stream:
                self._write(stream)
            partial.replace(target)
        except OSError as error:
            raise TpuError(f"cannot write weight file {target}: {error.strerror}") from error
        finally:
            partial.unlink(missing_ok=True)

    def _write(self, stream: IO[bytes]) -> None:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as target:
            for key, entry in self._entries.items():
                if isinstance(entry, _Archive):
                    entry.copy_member(key, target)
                    continue
                with target.open(_member(key), "w", force_zip64=True) as sink:
                    np.lib.format.write_array(sink, entry, allow_pickle=False)

    def _missing(self, key: str) -> str:
        files = ", ".join(str(archive.path) for archive in self._archives)
        place = f"in {files}" if files else "among the weights in memory"
        return (
            f"no weight {key} {place}: the module and its weights do not belong together; "
            "use the weight file written with this module"
        )


_ATTACHED: WeakKeyDictionary[ModuleOp, Weights] = WeakKeyDictionary()


def attach(module: ModuleOp, weights: Weights, base_dir: str | Path | None = None) -> None:
    """Make `weights` those of `module`; `base_dir` is what its file names are relative to."""
    _ATTACHED[module] = weights
    if base_dir is not None:
        module_info(module).base_dir = Path(base_dir)


def clone_with_weights(module: ModuleOp) -> ModuleOp:
    """A copy of a module with the same weights; what changes in one leaves the other alone."""
    copy, weights = module.clone(), Weights()
    for name, array in weights_of(module).items():
        weights[name] = array
    attach(copy, weights, module_info(module).base_dir)
    return copy


def attached_weights(module: ModuleOp) -> Weights | None:
    """The weights attached to `module` or opened by `weights_of` before; None without any."""
    return _ATTACHED.get(module)


def weights_of(module: ModuleOp) -> Weights:
    """The weights attached to `module`; those of its `module.weight_file` when none are yet.

    The file is looked for where the module was read from, else in the current directory. A module
    none of whose ops needs any has none, whether it names a file or not.

    Raises:
        TpuError: ops need weights and the module names no file, or the file cannot be read.
    """
    if (weights := known_weights(module)) is None:
        name = f"@{module.sym_name.data}" if module.sym_name else "without a name"
        raise TpuError(
            f"module {name} has no weights: give it the attribute {WEIGHT_FILE}, "
            'for example "model.npz", or attach weights to it'
        )
    return weights


def known_weights(module: ModuleOp) -> Weights | None:
    """As `weights_of`, but None when nothing says where the weights are that ops need.

    Such IR, written by hand, has weights of known type and unknown value.

    Raises:
        TpuError: the file cannot be read.
    """
    if (attached := _ATTACHED.get(module)) is not None:
        return attached
    file, needed = _named_file(module), needs_weights(module)
    if file is None and needed:
        return None
    weights = Weights() if file is None or not (needed or file.is_file()) else Weights(file)
    attach(module, weights)
    return weights


def needs_weights(module: ModuleOp) -> bool:
    """Whether any op has its numbers in the weight file."""
    return any(op.has_trait(StoredValues, value_if_unregistered=False) for op in module.walk())


def rename_weights(module: ModuleOp, name: str) -> None:
    """Let the module name another file; what is in the one named so far stays its weights."""
    file = _named_file(module)
    if attached_weights(module) is None and file is not None and file.is_file():
        attach(module, Weights(file))
    attributes = {**module.attributes, WEIGHT_FILE: StringAttr(name)}
    module.attributes = dict(sorted(attributes.items()))


def _named_file(module: ModuleOp) -> Path | None:
    file = module.attributes.get(WEIGHT_FILE)
    if not isinstance(file, StringAttr):
        return None
    return (module_info(module).base_dir or Path.cwd()) / file.data


def weights_around(op: Operation) -> Weights | None:
    """The weights of the module that `op` is in; None when nothing says where they are."""
    outermost = op
    while (parent := outermost.parent_op()) is not None:
        outermost = parent
    if not isinstance(outermost, ModuleOp):
        return None
    return known_weights(outermost)


def as_float32(array: Array, element: Attribute) -> npt.NDArray[np.float32]:
    """The values of a stored array whose tensor has elements of type `element`, as float32.

    bf16 is decoded from its uint16 storage; every other type is converted as numpy does. Values
    that are float32 already are those of the array itself, which may be read only.
    """
    if isinstance(element, BFloat16Type):
        if array.dtype != np.uint16:
            raise TpuError(f"bf16 weights are stored as uint16, not as {array.dtype}")
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float32, copy=False)


def from_float32(values: npt.NDArray[np.float32], element: Attribute) -> Array:
    """The stored form of float32 values for a tensor of f32, f16 or bf16 elements.

    Rounds to nearest, ties to even. Values beyond the range become infinities; a NaN stays one.
    """
    match element:
        case Float32Type():
            return values.astype(np.float32, copy=False)
        case Float16Type():
            with np.errstate(over="ignore"):
                return values.astype(np.float16)
        case BFloat16Type():
            return _bf16_bits(values)
        case _:
            raise TpuError(f"weights of type {element} are not made from floats by rounding")


def _bf16_bits(values: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) >> 16
    quiet_nan = (bits >> 16) | 0x40
    return np.where(np.isnan(values), quiet_nan, rounded).astype(np.uint16)
