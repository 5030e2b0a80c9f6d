"""Weights: lazily read, changed in memory, saved whole or not at all."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import BFloat16Type, StringAttr, f16, f32, i8

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.module_info import module_info
from xdsl_tpu.dialects.text import parse_module, read_module
from xdsl_tpu.dialects.weights import (
    WEIGHT_FILE,
    Weights,
    as_float32,
    attach,
    from_float32,
    known_weights,
    needs_weights,
    rename_weights,
    weights_of,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "net.npz"
    arrays: dict[str, npt.NDArray[Any]] = {
        "conv1.weight": np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2),
        "block/0.bias": np.array([1.5, -2.5], np.float16),
        "fc.filter_i8": np.array([[-128, 127]], np.int8),
    }
    np.savez(path, allow_pickle=False, **arrays)
    return path


@pytest.fixture
def weights(file: Path) -> Iterator[Weights]:
    with Weights(file) as opened:
        yield opened


def test_reads_what_numpy_wrote(weights: Weights) -> None:
    assert list(weights) == ["conv1.weight", "block/0.bias", "fc.filter_i8"]
    assert len(weights) == 3
    assert weights["conv1.weight"].shape == (2, 3, 2, 2)
    assert weights["block/0.bias"].dtype == np.float16
    np.testing.assert_array_equal(weights["fc.filter_i8"], [[-128, 127]])


def test_opening_reads_no_array(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("an array was read")

    monkeypatch.setattr(np.lib.format, "read_array", refuse)
    with Weights(file) as weights:
        assert "conv1.weight" in weights
        del weights["conv1.weight"]
        weights["new"] = np.zeros(2)
        weights.save(file.with_name("other.npz"))
    monkeypatch.undo()
    with Weights(file.with_name("other.npz")) as saved:
        assert list(saved) == ["block/0.bias", "fc.filter_i8", "new"]


def test_arrays_are_read_only(weights: Weights) -> None:
    weights["mine"] = np.zeros(3)
    for key in ("conv1.weight", "mine"):
        with pytest.raises(ValueError, match="read-only"):
            weights[key][0] = 1


def test_changes_stay_in_memory_until_saved(weights: Weights, file: Path) -> None:
    before = file.read_bytes()
    weights["conv1.weight"] = weights["conv1.weight"] * 2
    del weights["fc.filter_i8"]
    assert weights["conv1.weight"].max() == 46
    assert "fc.filter_i8" not in weights
    assert file.read_bytes() == before


def test_saved_file_is_what_numpy_reads(weights: Weights, file: Path) -> None:
    weights["conv1.weight"] = np.array([7], np.float32)
    weights["scalar"] = np.float32(3)
    target = file.with_name("out.npz")
    weights.save(target)
    with np.load(target) as loaded:
        assert sorted(loaded) == ["block/0.bias", "conv1.weight", "fc.filter_i8", "scalar"]
        np.testing.assert_array_equal(loaded["conv1.weight"], [7])
        assert loaded["scalar"].shape == ()


def test_save_over_the_file_being_read(weights: Weights, file: Path) -> None:
    weights["block/0.bias"] = np.array([9], np.float16)
    weights.save(file)
    assert weights["conv1.weight"].size == 24
    with Weights(file) as again:
        np.testing.assert_array_equal(again["block/0.bias"], [9])
        assert again["conv1.weight"].size == 24


def test_equal_weights_give_equal_files(weights: Weights, file: Path) -> None:
    first, second = file.with_name("a.npz"), file.with_name("b.npz")
    weights.save(first)
    weights.save(second)
    assert first.read_bytes() == second.read_bytes()


def test_a_failed_save_leaves_the_old_file_and_nothing_else(
    weights: Weights, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = file.with_name("out.npz")
    target.write_bytes(b"old")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    weights["new"] = np.zeros(4)
    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(TpuError, match=r"cannot write weight file .*out\.npz: No space left"):
        weights.save(target)
    assert target.read_bytes() == b"old"
    assert sorted(path.name for path in file.parent.iterdir()) == ["net.npz", "out.npz"]


def test_later_files_win(file: Path) -> None:
    other = file.with_name("other.npz")
    np.savez(other, allow_pickle=False, **{"block/0.bias": np.array([0], np.float16)})
    with Weights(file, other) as weights:
        assert len(weights) == 3
        np.testing.assert_array_equal(weights["block/0.bias"], [0])


def test_missing_weight_names_it_and_the_file(weights: Weights) -> None:
    with pytest.raises(TpuError, match=r"no weight conv9\.weight in .*net\.npz: .*use the weight"):
        weights["conv9.weight"]
    with pytest.raises(KeyError):
        del weights["conv9.weight"]
    assert weights.get("conv9.weight") is None
    with pytest.raises(TpuError, match="among the weights in memory"):
        Weights()["a"]


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TpuError, match=r"weight file .*none\.npz does not exist: put it there"):
        Weights(tmp_path / "none.npz")


@pytest.mark.parametrize("content", [b"", b"not a zip archive", b"PK\x03\x04"])
def test_file_that_is_no_archive(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.npz"
    path.write_bytes(content)
    with pytest.raises(TpuError, match=r"bad\.npz cannot be read .*write it again"):
        Weights(path)


def test_archive_with_something_else_in_it(tmp_path: Path) -> None:
    path = tmp_path / "bad.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(TpuError, match=r"it contains readme\.txt, which is no array"):
        Weights(path)


def test_damaged_array_is_named(file: Path) -> None:
    damaged = bytearray(file.read_bytes())
    position = damaged.index(np.float32(5).tobytes())
    damaged[position] ^= 0xFF
    file.write_bytes(damaged)
    with Weights(file) as weights:
        with pytest.raises(TpuError, match=r"weight conv1\.weight: Bad CRC"):
            weights["conv1.weight"]
        assert weights["block/0.bias"].size == 2


def test_python_objects_are_refused(weights: Weights) -> None:
    with pytest.raises(TpuError, match="weight a: an array of Python objects"):
        weights["a"] = np.array([None])


def test_weights_of_a_module_lie_beside_it(file: Path) -> None:
    path = file.with_name("net.mlir")
    path.write_text('module @net attributes {module.weight_file = "net.npz"} {\n}\n')
    module = read_module(path)
    weights = weights_of(module)
    assert weights_of(module) is weights
    assert "conv1.weight" in weights
    weights.close()


def test_attached_weights_and_directory(file: Path) -> None:
    module = parse_module('module attributes {module.weight_file = "net.npz"} {\n}\n')
    memory = Weights()
    attach(module, memory)
    assert weights_of(module) is memory
    other = parse_module('module attributes {module.weight_file = "net.npz"} {\n}\n')
    attach(other, memory, file.parent)
    assert weights_of(other) is memory


ONE_WEIGHT = '{\n  %0 = "top.Weight"() : () -> tensor<2xf32> loc("w")\n}\n'


def test_module_that_names_no_weights() -> None:
    module = parse_module(f"module @net {ONE_WEIGHT}")
    assert known_weights(module) is None
    with pytest.raises(TpuError, match=r"module @net has no weights: .*module\.weight_file"):
        weights_of(module)


def test_module_that_needs_no_weights_has_none(file: Path) -> None:
    nameless = parse_module("module @net {\n}\n")
    assert not needs_weights(nameless)
    assert len(weights_of(nameless)) == 0
    assert weights_of(nameless) is weights_of(nameless)
    absent = parse_module('module attributes {module.weight_file = "absent.npz"} {\n}\n')
    assert len(weights_of(absent)) == 0
    present = parse_module('module attributes {module.weight_file = "net.npz"} {\n}\n')
    module_info(present).base_dir = file.parent
    assert weights_of(present).files == (file,)


def test_renamed_weights_stay_those_of_the_file(file: Path) -> None:
    text = f'module attributes {{module.weight_file = "{file.name}"}} {ONE_WEIGHT}'
    module = parse_module(text)
    module_info(module).base_dir = file.parent
    rename_weights(module, "other.npz")
    assert module.attributes[WEIGHT_FILE] == StringAttr("other.npz")
    assert weights_of(module).files == (file,)
    nowhere = parse_module(text.replace(file.name, "absent.npz"))
    rename_weights(nowhere, "other.npz")
    with pytest.raises(TpuError, match=r"other\.npz does not exist"):
        weights_of(nowhere)


def test_bf16_is_stored_as_uint16_and_rounds_to_nearest_even() -> None:
    values = np.array([1.0, -2.5, 1 + 2**-8, 1 + 3 * 2**-8, np.inf, 3.4e38], np.float32)
    stored = from_float32(values, BFloat16Type())
    assert stored.dtype == np.uint16
    back = as_float32(stored, BFloat16Type())
    np.testing.assert_array_equal(back, [1.0, -2.5, 1.0, 1 + 2**-6, np.inf, np.inf])
    assert np.isnan(
        as_float32(from_float32(np.array([np.nan], np.float32), BFloat16Type()), BFloat16Type())
    )


def test_nan_payloads_do_not_become_infinities() -> None:
    nan = np.array([0x7F800001, 0xFFFFFFFF], np.uint32).view(np.float32)
    assert np.isnan(as_float32(from_float32(nan, BFloat16Type()), BFloat16Type())).all()


def test_f16_and_f32_storage() -> None:
    values = np.array([1.0, 70000.0, 2**-24], np.float32)
    half = from_float32(values, f16)
    assert half.dtype == np.float16
    np.testing.assert_array_equal(as_float32(half, f16), [1.0, np.inf, 2**-24])
    np.testing.assert_array_equal(from_float32(values, f32), values)


def test_wrong_element_types_are_errors() -> None:
    with pytest.raises(TpuError, match="bf16 weights are stored as uint16, not as float32"):
        as_float32(np.zeros(2, np.float32), BFloat16Type())
    with pytest.raises(TpuError, match="weights of type i8 are not made from floats"):
        from_float32(np.zeros(2, np.float32), i8)


def test_an_array_read_again_is_the_same(file: Path) -> None:
    with Weights(file) as weights:
        for name in weights:
            first, again = weights[name], weights[name]
            assert first.dtype == again.dtype
            assert first.tobytes() == again.tobytes()
            assert not again.flags.writeable


def test_an_array_is_read_again_only_from_an_open_file(file: Path) -> None:
    weights = Weights(file)
    name = next(iter(weights))
    assert weights[name].size
    weights.close()
    with pytest.raises(TpuError, match="cannot be read"):
        weights[name]


def test_compressed_arrays_are_read_again(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "small.npz", ones=np.ones(1000, np.float32))
    weights = Weights(tmp_path / "small.npz")
    assert [weights["ones"].sum(), weights["ones"].sum()] == [1000, 1000]
