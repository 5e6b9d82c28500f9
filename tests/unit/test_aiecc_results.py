"""Runs of the stand-in for aiecc: each command is accepted, and what it leaves is found, checked and put in place."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from aiebuild.errors import ToolchainError
from aiebuild.toolchains.aiecc import OUTPUTS, command, packet_sequence
from aiebuild.toolchains.aiecc_dialect import Dialect
from aiebuild.toolchains.aiecc_options import KINDS, AieccOptions, AieccRequest
from aiebuild.toolchains.aiecc_results import collect, expected, fetch
from installations import Installation, install
from projects import GOLDEN

if TYPE_CHECKING:
    from pathlib import Path

KERNEL = 'extern "C" void passthrough_u8(unsigned char *a, unsigned char *b, int n) { while (n--) *b++ = *a++; }\n'


@dataclass
class Workshop:
    """A work folder with the module and its object, and installations of each dialect."""

    folder: Path
    installed: dict[Dialect, Installation]

    def request(self, dialect: Dialect, kinds: str, options: AieccOptions | None = None) -> AieccRequest:
        """Return a request for outputs below this folder."""
        installed = self.installed[dialect]
        return AieccRequest(
            mlir="x.mlir",
            outputs={kind: str(self.folder / "out" / f"x.{kind}") for kind in kinds.split()},
            tmpdir=str(self.folder / "tmp"),
            peano_dir=str(installed.peano),
            xclbinutil=str(installed.mlir_aie / "bin" / "xclbinutil"),
            jobs=2,
            options=options or AieccOptions(),
        )

    def run(self, dialect: Dialect, asked: AieccRequest, **faults: str) -> subprocess.CompletedProcess[str]:
        """Run aiecc with the command of a request."""
        argv = command(dialect, str(self.installed[dialect].aiecc), asked)
        work = self.folder / "work"
        variables = {"PATH": "/usr/bin:/bin", **{f"AIE_STUB_{name}": value for name, value in faults.items()}}
        return subprocess.run(argv, cwd=work, env=variables, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[Dialect, Installation]:
    """An installation of each dialect."""
    folder = tmp_path_factory.mktemp("installed")
    return {dialect: install(folder / str(dialect), str(dialect)) for dialect in Dialect}


@pytest.fixture(scope="module")
def kernel(made: dict[Dialect, Installation], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The object of the kernel."""
    folder = tmp_path_factory.mktemp("kernel")
    (folder / "k.cc").write_text(KERNEL)
    compiler = str(made[Dialect.C2].peano / "bin" / "clang++")
    argv = [compiler, "--target=aie2-none-unknown-elf", "-O2", "-c", "k.cc", "-o", "passthrough.o"]
    subprocess.run(argv, cwd=folder, check=True)
    return folder / "passthrough.o"


@pytest.fixture
def workshop(tmp_path: Path, made: dict[Dialect, Installation], kernel: Path) -> Workshop:
    """A fresh work folder."""
    for name in ("work", "out", "tmp"):
        (tmp_path / name).mkdir()
    (tmp_path / "work" / "x.mlir").write_bytes((GOLDEN / "mlir" / "passthrough.mlir").read_bytes())
    (tmp_path / "work" / "passthrough.o").write_bytes(kernel.read_bytes())
    return Workshop(tmp_path, made)


ABLE = [(kind, dialect) for kind in KINDS for dialect in Dialect if dialect in OUTPUTS[kind].dialects]


@pytest.mark.parametrize(("kind", "dialect"), ABLE)
def test_u16_each_output_of_each_dialect_comes_to_its_place(workshop: Workshop, kind: str, dialect: Dialect) -> None:
    asked = workshop.request(dialect, kind)
    done = workshop.run(dialect, asked)
    assert done.returncode == 0, done.stderr
    fetch(dialect, asked)
    place = workshop.folder / "out" / f"x.{kind}"
    assert place.is_dir() == (kind in {"cdo", "core_elfs"})
    assert sorted(path.name for path in (workshop.folder / "work").iterdir()) == ["passthrough.o", "x.mlir"]


@pytest.mark.parametrize("dialect", Dialect, ids=str)
def test_several_outputs_can_come_from_one_run(workshop: Workshop, dialect: Dialect) -> None:
    asked = workshop.request(dialect, "xclbin insts pdi txn ctrlpkt cdo physical_mlir")
    assert workshop.run(dialect, asked).returncode == 0
    fetch(dialect, asked)
    assert {kind for kind, _ in expected(asked)} == set(asked.kinds)
    assert len(expected(asked)) == len(asked.kinds) + 1


@pytest.mark.parametrize("dialect", Dialect, ids=str)
def test_f22_insts_need_no_object_and_do_not_change_with_one(workshop: Workshop, dialect: Dialect) -> None:
    asked = workshop.request(dialect, "insts")
    workshop.run(dialect, asked)
    first = (workshop.folder / "out" / "x.insts").read_bytes()
    (workshop.folder / "work" / "passthrough.o").unlink()
    assert workshop.run(dialect, asked).returncode == 0
    assert (workshop.folder / "out" / "x.insts").read_bytes() == first


@pytest.mark.parametrize("dialect", Dialect, ids=str)
def test_u17_an_exit_of_0_with_nothing_written_is_a_failure(workshop: Workshop, dialect: Dialect) -> None:
    for fault in ({"SILENT": "aiecc"}, {"SILENT": "xclbinutil"}):
        asked = workshop.request(dialect, "xclbin")
        assert workshop.run(dialect, asked, **fault).returncode == 0
        with pytest.raises(ToolchainError, match=r"xclbin \(.*x\.xclbin\) was not written") as caught:
            fetch(dialect, asked)
        assert "xclbinutil" in caught.value.hint


def test_u17_an_empty_output_is_a_failure_and_each_one_is_named(workshop: Workshop) -> None:
    asked = workshop.request(Dialect.C2, "xclbin insts cdo")
    (workshop.folder / "out" / "x.insts").touch()
    (workshop.folder / "out" / "x.cdo").mkdir()
    with pytest.raises(ToolchainError) as caught:
        fetch(Dialect.C2, asked)
    for state in ("x.xclbin) was not written", "x.insts) is empty", "x.cdo) is an empty folder"):
        assert state in caught.value.message


def test_what_a_dialect_leaves_in_its_own_folder_is_known(workshop: Workshop) -> None:
    kinds = "pdi cdo core_elfs physical_mlir xclbin"
    assert set(collect(Dialect.A, workshop.request(Dialect.A, kinds))) == {"pdi", "cdo", "core_elfs", "physical_mlir"}
    assert set(collect(Dialect.C2, workshop.request(Dialect.C2, kinds))) == {"cdo", "core_elfs", "physical_mlir"}
    left = collect(Dialect.B, replace(workshop.request(Dialect.B, "cdo"), device_name="left"))["cdo"]
    assert (left.pattern, left.is_folder) == ("left_aie_cdo_*.bin", True)


def test_the_stream_that_sends_control_packets_stands_beside_them(workshop: Workshop) -> None:
    asked = workshop.request(Dialect.C2, "ctrlpkt")
    assert packet_sequence(asked) == str(workshop.folder / "out" / "x.ctrlpkt.dma_seq.bin")
    workshop.run(Dialect.C2, asked)
    fetch(Dialect.C2, asked)


@pytest.mark.parametrize("dialect", [Dialect.A, Dialect.C2], ids=str)
def test_options_that_couple_make_insts_change_with_an_object(workshop: Workshop, dialect: Dialect) -> None:
    asked = workshop.request(dialect, "insts", AieccOptions(expand_load_pdis=True))
    assert workshop.run(dialect, asked).returncode == 0
    first = (workshop.folder / "out" / "x.insts").read_bytes()
    obj = workshop.folder / "work" / "passthrough.o"
    obj.write_bytes(obj.read_bytes() + b"another")
    assert workshop.run(dialect, asked).returncode == 0
    assert (workshop.folder / "out" / "x.insts").read_bytes() != first
