"""A pack of weights arrives in every lane, however many lanes there are."""

from dataclasses import replace

import numpy as np
import pytest

from xdsl_tpu.backend.checks import check_program
from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.local.image import load_pack
from xdsl_tpu.backend.machine import Machine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.dialects.top.packs import PackPlace
from xdsl_tpu.passes.layer_group.packs import PACK_BYTES


@pytest.mark.parametrize(("lanes", "transfers"), [(16, 1), (64, 1), (66, 2), (128, 2), (200, 4)])
def test_the_largest_pack(lanes: int, transfers: int) -> None:
    chip = replace(load_chip(), lanes=lanes, static_base=0x0E00_0000)
    image = np.random.default_rng(lanes).integers(0, 256, (lanes, PACK_BYTES), np.uint8)
    program = Program("pack", chip.name, "F16", coefficient_address=chip.ddr_base)
    program.coefficients = image.ravel()
    emitter = Emitter(chip, program)
    load_pack(emitter, 0x400, chip.ddr_base, PackPlace(0, 0, PACK_BYTES, image.size))
    emitter.finish()
    assert len(program.gdma) == transfers + 1
    assert check_program(program, chip) == []
    machine = Machine(chip)
    machine.memory.write(chip.ddr_base, program.coefficients)
    machine.run(program.tiu, program.gdma)
    found = machine.memory.local.bytes.reshape(lanes, chip.local_bytes)
    assert np.array_equal(found[:, 0x400 : 0x400 + PACK_BYTES], image)
    assert not found[:, 0x400 + PACK_BYTES :].any()
