"""Every kind of fault, planted in a clean program, is found and named."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.bm1684x import FORMS
from tests.checks.check_samples import ARENA, CHIP, WEIGHTS, Y, change, sample

from xdsl_tpu.backend.checks import Fault, check_program
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.program import Program

TIU, GDMA = Engine.TIU, Engine.GDMA
Plant = Callable[[Program], None]


def _drop(engine: Engine, identity: int) -> Plant:
    def plant(program: Program) -> None:
        program.queue(engine).pop(identity - 1)

    return plant


def _set(engine: Engine, identity: int, **fields: int) -> Plant:
    return lambda program: change(program, engine, identity, **fields)


def _point(side: str, identity: int, address: int) -> Plant:
    low, high = address & 0xFFFF_FFFF, address >> 32
    fields = {f"{side}_start_addr_l32": low, f"{side}_start_addr_h8": high}
    return _set(GDMA, identity, **fields)


def _wait_for_each_other(program: Program) -> None:
    change(program, GDMA, 2, cmd_id_dep=1)
    change(program, TIU, 1, cmd_id_dep=2)


def _load_again(program: Program) -> None:
    """Another load, to where the copy reads, that waits for the add only."""
    load = program.gdma[1]
    again = {**load.fields, "cmd_id": 4, "cmd_id_dep": 1}
    again["dst_start_addr_l32"] = CHIP.local_base + 0x2000
    program.gdma.insert(2, Command(load.form, again))
    change(program, GDMA, 3, cmd_id=3)
    change(program, GDMA, 4, cmd_id=4)
    change(program, GDMA, 5, cmd_id=5)


def _store_into_the_same_rows(program: Program) -> None:
    """A load over the result of the copy, which nobody reads any more, that waits for the add."""
    _load_again(program)
    change(program, GDMA, 3, dst_start_addr_l32=CHIP.local_base, cmd_id_dep=1)
    program.gdma[2], program.gdma[3] = program.gdma[3], program.gdma[2]
    change(program, GDMA, 3, cmd_id=3, cmd_id_dep=0)
    change(program, GDMA, 4, cmd_id=4)


def _wait_in_a_circle(program: Program) -> None:
    """The second load waits for the copy, which waits for the store behind the load."""
    change(program, GDMA, 2, cmd_id_dep=2)
    change(program, TIU, 2, cmd_id_dep=3)
    change(program, TIU, 1, cmd_id_dep=1)


def _arena_over_coefficients(program: Program) -> None:
    program.arena_address, program.arena_bytes = WEIGHTS + 64, 0x18000 - 64


def _replace_form(engine: Engine, identity: int, form: str) -> Plant:
    def plant(program: Program) -> None:
        queue = program.queue(engine)
        queue[identity - 1] = Command(FORMS[form], queue[identity - 1].fields)

    return plant


FAULTS: dict[str, tuple[Plant, Fault, str]] = {
    "the add does not wait for the load of w": (
        _set(TIU, 1, cmd_id_dep=1),
        Fault.RACE,
        r"GDMA command 2 \(DMA_tensor.copy, layer 'sum'\).*dst writes .*while "
        r"TIU command 1 \(sAR.add, layer 'sum'\) reads there",
    ),
    "the store does not wait for the copy": (
        _set(GDMA, 3, cmd_id_dep=1),
        Fault.RACE,
        r"GDMA command 3 .*src reads 4480 bytes of local memory in 0x0 to 0x7f of lanes 0 to 63 "
        r"while TIU command 2 \(sAR.copy, layer 'again'\) writes there",
    ),
    "a load over what the TIU still reads": (
        _load_again,
        Fault.RACE,
        r"GDMA command 3 .*dst writes .* in 0x2000 to 0x207f .*while TIU command 2 .*reads there",
    ),
    "a load over what the TIU writes": (
        _store_into_the_same_rows,
        Fault.RACE,
        r"GDMA command 4 .*dst writes .* in 0x0 to 0x7f .*while TIU command 2 .*writes there",
    ),
    "an operand nobody wrote": (
        _set(TIU, 1, opd1_addr=0x3000),
        Fault.UNWRITTEN,
        r"TIU command 1 \(sAR.add, layer 'sum'\).*opd1 reads 4480 bytes of local memory in "
        r"0x3000 to 0x307f of lanes 0 to 63",
    ),
    "one channel of an operand nobody wrote": (
        _set(GDMA, 1, src_csize=69),
        Fault.UNWRITTEN,
        r"opd0 reads 64 bytes of local memory in 0x40 to 0x7f of lanes 5 to 5",
    ),
    "DDR nobody wrote": (
        _point("src", 1, ARENA + 0x6000),
        Fault.UNWRITTEN,
        r"GDMA command 1 .*src reads 4480 bytes of DDR",
    ),
    "an output that stays unwritten": (
        _point("dst", 3, ARENA),
        Fault.UNWRITTEN,
        r"output 'y' ends with 4480 bytes",
    ),
    "an EU-aligned operand off its alignment": (
        _set(TIU, 2, opd0_addr=0x2010),
        Fault.MISALIGNED,
        r"TIU command 2 .*opd0 at local address 0x2010 must be aligned to 64",
    ),
    "an odd address of 16-bit elements in DDR": (
        _point("dst", 3, Y + 1),
        Fault.MISALIGNED,
        r"dst at 0x\w+ must be aligned to 2",
    ),
    "an operand on another lane than the result": (
        _set(TIU, 2, opd0_addr=(3 << 18) + 0x2000),
        Fault.LANE,
        r"opd0 starts on lane 3, it must start on lane 0",
    ),
    "a result beyond the end of the lanes": (
        _set(TIU, 2, res0_addr=0x3FFC0),
        Fault.OUT_OF_RANGE,
        r"res0 .* ends at byte 0x40040 of its lanes, which have 0x40000",
    ),
    "a lane that does not exist": (
        _set(TIU, 2, res0_addr=64 << 18),
        Fault.OUT_OF_RANGE,
        r"is on lane 64 of 64",
    ),
    "a copy onto its own next rows": (
        _set(TIU, 2, res0_addr=0x2040),
        Fault.OVERLAP,
        r"TIU command 2 \(sAR.copy, layer 'again'\).*res0 overwrites opd0: 64 bytes in 0x2040 to "
        r"0x207f of lane 0 are written before they are read",
    ),
    "an empty operand": (_set(TIU, 2, res0_h=0), Fault.OUT_OF_RANGE, r"is empty"),
    "a store behind the arena": (
        _point("dst", 3, ARENA + 0x8000 - 64),
        Fault.OUTSIDE,
        r"GDMA command 3 .*it writes bytes 0x1000\w+ to .*arena 0x1000",
    ),
    "an arena that no chip has": (
        lambda program: setattr(program, "arena_bytes", 1 << 60),
        Fault.OUTSIDE,
        r"program: .*the arena from 0x100010000 to 0x\w+ is in no memory of BM1684X",
    ),
    "an output outside of all memory": (
        lambda program: program.outputs.append(replace(program.outputs[0], address=1 << 60)),
        Fault.OUTSIDE,
        r"program: .*the tensor 'y' from 0x10{15} to 0x\w+ is in no memory of BM1684X",
    ),
    "a load from nowhere": (_point("src", 2, 0x4000), Fault.OUTSIDE, r"it reads bytes 0x4000"),
    "a store over the coefficients": (
        _point("dst", 3, WEIGHTS + 64),
        Fault.COEFFICIENTS,
        r"which are in the coefficients",
    ),
    "a store that ends in the coefficients": (
        _point("dst", 3, WEIGHTS - 64),
        Fault.COEFFICIENTS,
        r"GDMA command 3 .*it writes bytes 0xffffffc0 to \w+, which are in the coefficients",
    ),
    "an arena over the coefficients": (
        _arena_over_coefficients,
        Fault.COEFFICIENTS,
        r"program: .*the arena from 0x100000040 to 0x100017fff is over the coefficients from "
        r"0x100000000 to 0x10000117f",
    ),
    "an input over the coefficients": (
        lambda program: program.inputs.append(replace(program.inputs[0], address=WEIGHTS)),
        Fault.COEFFICIENTS,
        r"program: .*the input 'x' from 0x100000000 to 0x10000117f is over the coefficients",
    ),
    "a store over static memory": (
        _point("dst", 3, CHIP.static_base),
        Fault.COEFFICIENTS,
        r"which are in the static memory",
    ),
    "a store that takes fewer elements than it is given": (
        _set(GDMA, 3, nchw_copy=0, dst_nsize=1, dst_csize=70, dst_hsize=4, dst_wsize=7),
        Fault.CONTRADICTION,
        r"GDMA command 3 .*src has 2240 elements, dst has 1960",
    ),
    "an id that began at 0 again": (
        _set(TIU, 2, cmd_id=0),
        Fault.SEQUENCE,
        r"TIU command 2 \(sAR.copy, layer 'again'\).*cmd_id is 0, the command is number 2",
    ),
    "two commands of one id": (
        _set(GDMA, 2, cmd_id=1),
        Fault.SEQUENCE,
        r"GDMA command 2 .*cmd_id is 1",
    ),
    "a command that is not counted": (
        _set(TIU, 1, cmd_id_en=0),
        Fault.SEQUENCE,
        r"TIU command 1 .*its cmd_id_en is 0",
    ),
    "a gap in the ids": (
        _set(TIU, 2, cmd_id=7),
        Fault.SEQUENCE,
        r"TIU command 2 .*cmd_id is 7",
    ),
    "no end of the TIU queue": (_drop(TIU, 3), Fault.END, r"the TIU queue has no end marker"),
    "no end of the GDMA queue": (_drop(GDMA, 4), Fault.END, r"the GDMA queue has no end marker"),
    "an end in the middle": (
        lambda program: program.tiu.insert(0, program.tiu[-1]),
        Fault.END,
        r"the 3 commands behind it never run",
    ),
    "both queues wait for each other": (
        _wait_for_each_other,
        Fault.DEADLOCK,
        r"TIU command 1 .*it waits for GDMA command 2",
    ),
    "a wait for what comes behind one's own reader": (
        _wait_in_a_circle,
        Fault.DEADLOCK,
        r"GDMA command 2 .*it waits for TIU command 2, which waits behind number 2 of its queue",
    ),
    "a wait for a command that is not there": (
        _set(TIU, 2, cmd_id_dep=9),
        Fault.DEADLOCK,
        r"it waits for GDMA command 9, but there are only 4",
    ),
    "a form without known operands": (
        _replace_form(TIU, 2, "AR"),
        Fault.UNKNOWN,
        r"the operands of AR \(copy\) are not known",
    ),
    "an unknown layout": (_set(TIU, 2, opd0_str=2), Fault.UNKNOWN, r"opd0_str = 2"),
}


def test_the_sample_is_clean() -> None:
    assert check_program(sample(), CHIP) == []


@pytest.mark.parametrize("name", FAULTS)
def test_planted_fault(name: str) -> None:
    plant, fault, pattern = FAULTS[name]
    program = sample()
    plant(program)
    found = check_program(program, CHIP)
    texts = [str(finding) for finding in found if finding.fault is fault]
    assert any(re.search(pattern, text) for text in texts), [str(finding) for finding in found]


def test_every_kind_of_fault_is_planted() -> None:
    """Races between cores: `tests/machine/test_two_cores.py`."""
    assert {fault for _, fault, _ in FAULTS.values()} | {Fault.CROSSING} == set(Fault)


def test_a_missing_byte_is_reported_once() -> None:
    """The first user is named; commands that read the same bytes later are not."""
    program = sample()
    change(program, TIU, 1, opd1_addr=0x3000)
    change(program, TIU, 2, opd0_addr=0x3000, tsk_eu_typ=26, tsk_opd_num=1)
    found = [f for f in check_program(program, CHIP) if f.fault is Fault.UNWRITTEN]
    assert [finding.place.identity for finding in found] == [1]


def test_unwritten_bytes_travel_with_copies() -> None:
    """The copy is not reported, the store of what it copied is."""
    program = sample()
    change(program, TIU, 2, opd0_addr=0x3000)
    (found,) = check_program(program, CHIP)
    assert found.fault is Fault.UNWRITTEN
    assert str(found).startswith("GDMA command 3 (DMA_tensor.copy, layer 'again')")
    assert "src reads 4480 bytes of local memory in 0x0 to 0x7f of lanes 0 to 63" in str(found)


def _strided(offset: int, dep: int) -> Program:
    """A load beside the rows that the add reads, in the gaps that its strides leave."""
    program = sample()
    fields = {"opd0_str": 3, "opd0_n_str": 256, "opd0_c_str": 128, "opd0_h_str": 16}
    change(program, TIU, 1, **fields, opd0_w_str=1, cmd_id_dep=2, opd0_addr=0x4000)
    change(program, GDMA, 1, dst_nstride=256, dst_cstride=128, dst_hstride=16)
    change(program, GDMA, 1, dst_start_addr_l32=CHIP.local_base + 0x4000)
    again = dict(program.gdma[0].fields) | {"cmd_id": 3, "cmd_id_dep": dep}
    again["dst_start_addr_l32"] = CHIP.local_base + 0x4000 + offset
    program.gdma.insert(2, Command(program.gdma[0].form, again))
    for identity in (3, 4, 5):
        change(program, GDMA, identity, cmd_id=identity)
    return program


@pytest.mark.parametrize(("offset", "races"), [(16, False), (14, True), (18, True), (0, True)])
def test_gaps_between_strides_are_free_to_the_byte(offset: int, races: bool) -> None:
    """Rows of 16 bytes every 32: another tensor fits between them and nowhere else."""
    assert check_program(_strided(offset, 1), CHIP) == []
    found = check_program(_strided(offset, 0), CHIP)
    assert {finding.fault for finding in found} == ({Fault.RACE} if races else set())
    if offset in (14, 18):
        assert "reads there" in found[0].message
        assert f"{ {14: 560, 18: 420}[offset] } bytes" in found[0].message


def test_other_chips_are_checked_by_their_own_limits() -> None:
    """With a quarter of the local memory the program no longer fits."""
    small = replace(CHIP, local_bytes=0x2000)
    found = check_program(sample(), small)
    assert {finding.fault for finding in found} & {Fault.OUT_OF_RANGE, Fault.LANE}
