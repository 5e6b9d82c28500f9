from __future__ import annotations

import pytest
from aiebuild import devices
from aiebuild.errors import CheckError


def test_the_npu_families_have_the_columns_that_their_names_say() -> None:
    assert [devices.find(f"npu1_{n}col").columns for n in (1, 2, 3)] == [1, 2, 3]
    assert [devices.find(f"npu2_{n}col").columns for n in range(1, 8)] == list(range(1, 8))
    assert (devices.find("npu1").columns, devices.find("npu2").columns) == (4, 8)


def test_each_family_has_its_arch() -> None:
    assert {d.arch for d in devices.DEVICES if d.name.startswith("npu1")} == {"aie2"}
    assert {d.arch for d in devices.DEVICES if d.name.startswith("npu2")} == {"aie2p"}
    assert {d.name for d in devices.of_arch("aie2p")} == {n for n in devices.names() if n.startswith("npu2")}
    assert devices.of_arch("host") == ()


def test_an_unknown_device_names_the_nearest() -> None:
    with pytest.raises(CheckError, match="unknown device 'npu1_1cols'") as caught:
        devices.find("npu1_1cols")
    assert caught.value.hint == "did you mean 'npu1_1col'?"


def test_names_are_unique() -> None:
    assert len(set(devices.names())) == len(devices.DEVICES)


@pytest.mark.parametrize(("row", "kind"), [(0, "shim"), (1, "mem"), (2, "core"), (5, "core"), (6, None), (-1, None)])
def test_the_row_decides_the_kind_of_a_tile(row: int, kind: str | None) -> None:
    found = devices.find("npu1_1col").kind(0, row)
    assert (found.name if found else None) == kind


def test_a_column_outside_the_grid_has_no_tile() -> None:
    assert devices.find("npu1_1col").kind(1, 2) is None
    assert devices.find("npu1_2col").kind(1, 2) is devices.CORE


def test_versal_shim_tiles_have_a_dma_in_noc_columns_only() -> None:
    versal = devices.find("xcve2802")
    assert versal.kind(2, 0) is devices.SHIM
    assert versal.kind(4, 0) is devices.PL
    assert versal.kind(4, 2) is devices.MEM
    assert versal.kind(4, 3) is devices.CORE


def test_a_core_reaches_its_own_memory_and_those_west_south_and_north() -> None:
    npu = devices.find("npu1")
    reached = {(c, r) for c in range(4) for r in range(6) if npu.reaches((1, 3), (c, r))}
    assert reached == {(1, 3), (0, 3), (1, 2), (1, 4)}


def test_a_core_does_not_reach_the_mem_tile_below_it() -> None:
    assert not devices.find("npu1").reaches((0, 2), (0, 1))
    assert not devices.find("npu1").shares_memory((0, 2), (0, 1))


def test_a_shim_tile_shares_no_memory() -> None:
    assert not devices.find("npu1").shares_memory((0, 0), (1, 0))


def test_two_cores_side_by_side_share_the_western_ones_memory() -> None:
    npu = devices.find("npu1")
    assert npu.shared_memory((0, 2), (1, 2)) == (0, 2)
    assert npu.shared_memory((1, 2), (0, 2)) == (0, 2)


def test_of_two_cores_one_above_the_other_the_first_ones_memory_is_taken() -> None:
    npu = devices.find("npu1")
    assert npu.shared_memory((0, 2), (0, 3)) == (0, 2)
    assert npu.shared_memory((0, 3), (0, 2)) == (0, 3)


def test_distant_cores_share_nothing() -> None:
    npu = devices.find("npu1")
    assert not npu.shares_memory((0, 2), (0, 4))
    assert not npu.shares_memory((0, 2), (1, 3))


def test_mem_tiles_side_by_side_share_memory() -> None:
    assert devices.find("npu1").shared_memory((0, 1), (1, 1)) == (0, 1)


def test_neighbours_stay_inside_the_grid() -> None:
    assert devices.find("npu1_1col").neighbours((0, 0)) == ((0, 1),)
    assert set(devices.find("npu1").neighbours((1, 2))) == {(0, 2), (1, 1), (2, 2), (1, 3)}


def test_the_figures_of_the_tiles_are_those_of_the_target_model() -> None:
    assert (devices.CORE.data_memory, devices.MEM.data_memory) == (65_536, 524_288)
    assert (devices.CORE.channels_in, devices.CORE.channels_out) == (2, 2)
    assert (devices.MEM.channels_in, devices.MEM.channels_out) == (6, 6)
    assert (devices.SHIM.channels_in, devices.SHIM.channels_out) == (2, 2)
    assert devices.MEM.descriptors_per_group == 24
    assert devices.CORE.descriptors_per_group == devices.SHIM.descriptors_per_group == 16
    assert (devices.CORE.widest, devices.MEM.widest, devices.SHIM.widest) == (255, 1023, 1023)
    assert (devices.CORE.farthest, devices.MEM.farthest, devices.SHIM.farthest) == (2**13, 2**17, 2**20)
    assert (devices.CORE.longest, devices.MEM.longest) == (2**14 - 1, 2**17 - 1)


def test_only_aie2p_pads_with_a_value() -> None:
    assert all(device.pad_values == (device.arch == "aie2p") for device in devices.DEVICES)


def test_a_device_describes_its_grid() -> None:
    assert devices.find("npu1_1col").describe() == "1 column of 6 rows (row 0 shim, 1 mem, 2 to 5 cores)"
    assert "rows (row 0 shim, 1 to 2 mem, 3 to 10 cores)" in devices.find("xcve2802").describe()
