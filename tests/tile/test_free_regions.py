"""Memory of a group that nothing needs."""

from xdsl_tpu.backend.local.schedule import STORING, Lifetime, free_regions


def test_large_regions_come_first_and_those_that_are_being_stored_last() -> None:
    taken = [Lifetime(0, 9, 64, 128), Lifetime(3, 9, 256, 320), Lifetime(6, 9, 448, 512)]
    stored = [Lifetime(4, 4 + STORING, 0, 64), Lifetime(4, 4 + STORING, 320, 384)]
    assert free_regions(taken, {}, 4, 512) == [(320, 512), (128, 256), (0, 64)]
    assert free_regions(taken, {}, 4, 512, stored) == [(128, 256), (320, 512), (0, 64)]
    assert free_regions(taken, {}, 3, 512, stored) == [(320, 512), (128, 256), (0, 64)]

    assert free_regions(taken, {}, 5, 512, stored) == [(128, 256), (320, 448), (0, 64)]
