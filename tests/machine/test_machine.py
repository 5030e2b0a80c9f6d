"""Queues, refusals and data movement, with commands written by hand."""

import numpy as np
import pytest
from tests.bm1684x import EXECUTORS, FORMS

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.machine import Machine
from xdsl_tpu.dialects.errors import TpuError

_CHIP = load_chip("bm1684x")
_ALL_LANES = {"localmem_mask_l32": 0xFFFF_FFFF, "localmem_mask_h32": 0xFFFF_FFFF}
_F16, _F32 = 1, 2


def _command(form: str, **fields: int) -> Command:
    return Command(FORMS[form], {"cmd_id_en": 1, **fields})


def _address(side: str, address: int) -> dict[str, int]:
    return {
        f"{side}_start_addr_l32": address & 0xFFFF_FFFF,
        f"{side}_start_addr_h8": address >> 32,
    }


def _load(identity: int, after: int, offset: int, to: int, shape: tuple[int, ...]) -> Command:
    """A dense f32 tensor from DDR to an EU-aligned place in local memory."""
    sizes = dict(zip(("n", "c", "h", "w"), shape, strict=True))
    fields = {f"{side}_{a}size": size for side in ("src", "dst") for a, size in sizes.items()}
    return _command(
        "DMA_tensor",
        cmd_id=identity,
        cmd_id_dep=after,
        src_data_format=_F32,
        nchw_copy=1,
        **fields,
        **_ALL_LANES,
        **_address("src", _CHIP.ddr_base + offset),
        **_address("dst", _CHIP.local_base + to),
    )


def _add(identity: int, after: int, left: int, right: int, to: int) -> Command:
    return _command(
        "sAR",
        cmd_id=identity,
        cmd_id_dep=after,
        tsk_eu_typ=2,
        tsk_opd_num=2,
        res0_prec=_F32,
        opd0_prec=_F32,
        opd1_prec=_F32,
        res0_n=1,
        res0_c=70,
        res0_h=2,
        res0_w=9,
        opd0_addr=left,
        opd1_addr=right,
        res0_addr=to,
    )


def test_queues_wait_for_each_other() -> None:
    # The addition waits for the second load, the store-back load for the addition.
    machine = Machine(_CHIP)
    shape = (1, 70, 2, 9)
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(np.float32) for _ in range(2))
    machine.memory.write(_CHIP.ddr_base, a)
    machine.memory.write(_CHIP.ddr_base + a.nbytes, b)
    gdma = [_load(1, 0, 0, 0, shape), _load(2, 0, a.nbytes, 4096, shape), _load(3, 1, 0, 0, shape)]
    tiu = [_add(1, 2, 0, 4096, 8192), _add(2, 3, 0, 8192, 12288)]
    order: list[tuple[str, int]] = []
    machine.run(tiu, gdma, lambda c: order.append((c.engine.value, c["cmd_id"])))
    assert order == [("GDMA", 1), ("GDMA", 2), ("TIU", 1), ("GDMA", 3), ("TIU", 2)]
    strides = (64, 32, 9, 1)
    total = machine.memory.local.place(12288, shape, strides, np.dtype(np.float32)).read()
    assert np.array_equal(total, a + (a + b))


def test_deadlock_names_both_commands() -> None:
    machine = Machine(_CHIP)
    tiu = [_add(1, 1, 0, 0, 0)]
    gdma = [_load(1, 1, 0, 0, (1, 1, 1, 1))]
    with pytest.raises(TpuError, match=r"TIU command 1, sAR \(add\).* GDMA command 1, DMA_tensor"):
        machine.run(tiu, gdma)


@pytest.mark.parametrize(
    "command",
    [
        _command("AR", cmd_id=7, tsk_eu_typ=2),
        _command("sAR", cmd_id=7, tsk_eu_typ=18),
        _command("sRQ_DQ", cmd_id=7, tsk_eu_typ=5),
        _command("DMA_tensor", cmd_id=7, cmd_special_function=2),
        _command("DMA_gather", cmd_id=7),
    ],
    ids=lambda c: f"{c.form.name}-{c.function}",
)
def test_unknown_commands_are_refused(command: Command) -> None:
    with pytest.raises(TpuError, match=rf"command 7, {command.form.name} .*not simulated"):
        Machine(_CHIP).execute(command)


def test_errors_name_the_command() -> None:
    with pytest.raises(TpuError, match=r"TIU command 3, sAR \(add\): EU-aligned tensor"):
        Machine(_CHIP).execute(_add(3, 0, 4, 0, 0))


def test_elementwise_operands_share_the_lane() -> None:
    other = 5 * _CHIP.local_bytes
    with pytest.raises(TpuError, match="lane of the result"):
        Machine(_CHIP).execute(_add(1, 0, other, 0, 0))


def test_matrix_operands_start_on_lane_0() -> None:
    command = _command(
        "sMM2",
        cmd_id=1,
        tsk_eu_typ=4,
        res0_prec=_F16,
        opd0_prec=_F16,
        res0_c=2,
        res0_w=2,
        opd1_c=2,
        opd1_w=2,
        opd1_addr=_CHIP.local_bytes,
    )
    with pytest.raises(TpuError, match="start on lane 0, not 1"):
        Machine(_CHIP).execute(command)


def test_mixed_float_types_are_refused() -> None:
    command = _add(1, 0, 0, 4096, 8192)
    mixed = Command(command.form, {**command.fields, "opd1_prec": _F16})
    with pytest.raises(TpuError, match="f32/f32/f16: float types must agree"):
        Machine(_CHIP).execute(mixed)


def test_lane_masks_are_refused() -> None:
    command = _load(1, 0, 0, 0, (1, 1, 1, 1))
    masked = Command(command.form, {**command.fields, "localmem_mask_l32": 1})
    with pytest.raises(TpuError, match="lane mask"):
        Machine(_CHIP).execute(masked)


def test_reshaping_copy_counts_elements() -> None:
    command = _load(1, 0, 0, 0, (1, 4, 1, 6))
    fields = {**command.fields, "nchw_copy": 0, "dst_csize": 3}
    with pytest.raises(TpuError, match="differ in size"):
        Machine(_CHIP).execute(Command(command.form, fields))


def test_matrix_load_and_store_are_inverse() -> None:
    # 5 x 70 elements in blocks of 16 columns: four full blocks and a tail of 6 columns.
    machine = Machine(_CHIP)
    matrix = np.random.default_rng(2).standard_normal((5, 70)).astype(np.float32)
    machine.memory.write(_CHIP.ddr_base, matrix)
    back = _CHIP.ddr_base + matrix.nbytes
    local = {"nstride": 16, "cstride": 16, "nsize": 5, "csize": 5, "hsize": 1, "wsize": 16}
    other = {"hstride": 70, "hsize": 5, "wsize": 70}
    shared = {"src_data_format": _F32, "stride_enable": 1, **_ALL_LANES}
    load = _command(
        "DMA_matrix",
        cmd_id=1,
        **shared,
        **{f"src_{k}": v for k, v in other.items()},
        **{f"dst_{k}": v for k, v in local.items()},
        **_address("src", _CHIP.ddr_base),
        **_address("dst", _CHIP.local_base),
    )
    store = _command(
        "DMA_matrix",
        cmd_id=2,
        **shared,
        **{f"src_{k}": v for k, v in local.items()},
        **{f"dst_{k}": v for k, v in other.items()},
        **_address("src", _CHIP.local_base),
        **_address("dst", back),
    )
    machine.execute(load)
    block = machine.memory.read(_CHIP.local_base + 2 * _CHIP.local_bytes, (16,), np.float32)
    assert np.array_equal(block, matrix[0, 32:48])
    machine.execute(store)
    assert np.array_equal(machine.memory.read(back, matrix.shape, np.float32), matrix)


def test_every_executor_is_a_function_of_its_form() -> None:
    for name, function in EXECUTORS:
        functions = FORMS[name].functions
        assert not functions or function in functions


def test_fields_that_nothing_expects_name_the_command() -> None:
    """An empty window: whatever goes wrong inside, the message says which command it was."""
    pool = _command("sPorD", cmd_id=3, tsk_eu_typ=4, opd0_prec=1, res0_prec=1, opd3_const=1)
    sizes = dict.fromkeys(("res0_n", "res0_c", "res0_h", "res0_w", "opd0_h", "opd0_w"), 1)
    steps = {"res_op_x_str": 1, "res_op_y_str": 1}
    empty = Command(pool.form, {**pool.fields, **sizes, **steps, "res0_addr": 64})
    with pytest.raises(TpuError, match=r"^TIU command 3, sPorD \(max_pool\): its fields do not"):
        Machine(load_chip()).execute(empty)
