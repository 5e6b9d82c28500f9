"""The contract of the stand-ins: they take and refuse what the real tools do, and misbehave when they are told to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from aiebuild import elf
from aiebuild.inspect.xclbin import masked
from installations import Installation, install
from projects import GOLDEN

if TYPE_CHECKING:
    from pathlib import Path

DIALECTS = ("A", "B", "C0", "C1", "C2")
KERNEL = 'extern "C" void passthrough_u8(unsigned char *a, unsigned char *b, int n) { while (n--) *b++ = *a++; }\n'
OLD = "--no-compile-host --no-xchesscc --no-xbridge"
Done = subprocess.CompletedProcess[str]


@dataclass
class Bench:
    """A folder to work in, with the kernel's object and the module, and installations."""

    folder: Path
    made: dict[str, Installation]

    def run(self, program: Path, words: str, **variables: str) -> Done:
        """Run a stand-in here with words separated by spaces."""
        environment = {"PATH": "/usr/bin:/bin", **variables}
        return subprocess.run(
            [str(program), *words.split()],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def aiecc(self, dialect: str, words: str, **variables: str) -> Done:
        """Run an aiecc here."""
        return self.run(self.made[dialect].aiecc, words, **variables)

    def peano(self, tool: str, words: str, **variables: str) -> Done:
        """Run a tool of Peano, or of mlir-aie, here."""
        made = self.made["C2"]
        folder = made.peano if (made.peano / "bin" / tool).exists() else made.mlir_aie
        return self.run(folder / "bin" / tool, words, **variables)

    def compile(self, source: str = KERNEL, name: str = "passthrough.o", arch: str = "aie2") -> None:
        """Make an object."""
        (self.folder / f"{name}.cc").write_text(source)
        done = self.peano("clang++", f"--target={arch}-none-unknown-elf -O2 -c {name}.cc -o {name}")
        assert done.returncode == 0, done.stderr

    def read(self, name: str) -> bytes:
        """Return a file's content."""
        return (self.folder / name).read_bytes()

    def edit(self, old: str, new: str) -> None:
        """Change the module."""
        path = self.folder / "x.mlir"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Installation]:
    """An installation of each dialect."""
    folder = tmp_path_factory.mktemp("installed")
    return {dialect: install(folder / dialect, dialect, chess=dialect == "C2") for dialect in DIALECTS}


@pytest.fixture
def bench(tmp_path: Path, made: dict[str, Installation]) -> Bench:
    """A fresh folder with the module."""
    (tmp_path / "x.mlir").write_bytes((GOLDEN / "mlir" / "passthrough.mlir").read_bytes())
    return Bench(tmp_path, made)


def wanted(dialect: str, kind: str, bench: Bench) -> str:
    """Return the words that ask a dialect for an xclbin or insts, named `x.<kind>`, with Peano."""
    names = {"xclbin": ("xclbin", "xclbin-name"), "insts": ("npu-insts", "npu-insts-name")}
    selector, name = names[kind]
    ask = f"--get-{selector}" if dialect in {"C1", "C2"} else f"--aie-generate-{selector}"
    chess = {"C1": "--no-xchesscc --no-xbridge", "C2": ""}.get(dialect, OLD)
    return f"{ask} --{name}=x.{kind} {chess} --peano={bench.made[dialect].peano} --tmpdir=tmp x.mlir"


# --- the compiler ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arch", ["aie2", "aie2p"])
def test_an_object_says_its_arch_as_a_real_one_does(bench: Bench, arch: str) -> None:
    bench.compile(arch=arch)
    said = elf.read(bench.folder / "passthrough.o")
    assert said.machine == arch
    assert "passthrough_u8" in said.defined


def test_an_unknown_target_is_refused(bench: Bench) -> None:
    done = bench.peano("clang++", "--target=aie9-none-unknown-elf -c x.cc -o x.o")
    assert done.returncode == 1
    assert "unknown target triple 'aie9-none-unknown-elf'" in done.stderr


def test_u10_a_peano_can_lack_a_target(bench: Bench, tmp_path: Path) -> None:
    lacking = install(tmp_path / "lacking", refuse="aie2p").peano / "bin" / "clang++"
    (tmp_path / "k.cc").write_text(KERNEL)
    assert bench.run(lacking, "--target=aie2-none-unknown-elf -c k.cc -o k.o").returncode == 0
    assert bench.run(lacking, "--target=aie2p-none-unknown-elf -c k.cc -o k.o").returncode == 1
    assert "aie2p" not in bench.run(lacking, "--print-targets").stdout


def test_f23_comments_do_not_change_an_object_and_defines_do(bench: Bench) -> None:
    bench.compile()
    first = bench.read("passthrough.o")
    bench.compile("// why\n" + KERNEL)
    assert bench.read("passthrough.o") == first
    bench.compile(KERNEL.replace("n--", "--n"))
    assert bench.read("passthrough.o") != first


def test_depfiles_and_errors_are_real_ones(bench: Bench) -> None:
    (bench.folder / "a b.h").write_text("#pragma once\n")
    (bench.folder / "k.cc").write_text('#include "a b.h"\n#include "missing.h"\n')
    words = "--target=aie2-none-unknown-elf -c k.cc -o k.o -MD -MF k.d"
    failed = bench.peano("clang++", words)
    assert failed.returncode == 1
    assert "missing.h" in failed.stderr
    assert not (bench.folder / "k.o").exists()
    (bench.folder / "missing.h").touch()
    assert bench.peano("clang++", words).returncode == 0
    assert "a\\ b.h" in bench.read("k.d").decode()


def test_f19_an_archive_keeps_members_that_are_no_longer_named(bench: Bench) -> None:
    bench.compile(name="a.o")
    bench.compile(name="b.o", arch="aie2")
    assert bench.peano("llvm-ar", "rcsD lib.a a.o b.o").returncode == 0
    assert bench.peano("llvm-ar", "rcsD lib.a a.o").returncode == 0
    assert bench.peano("llvm-ar", "t lib.a").stdout.split() == ["a.o", "b.o"]
    assert bench.peano("llvm-nm", "-P -g lib.a").stdout.count("passthrough_u8 T") == 2


def test_symbols_are_listed_and_renamed_and_an_unknown_one_is_no_error(bench: Bench) -> None:
    bench.compile()
    assert bench.peano("llvm-nm", "--defined-only --extern-only passthrough.o").stdout.split()[1:] == [
        "T",
        "passthrough_u8",
    ]
    assert bench.peano("llvm-nm", "missing.o").returncode == 1
    before = bench.read("passthrough.o")
    assert bench.peano("llvm-objcopy", "--redefine-sym=nobody=x passthrough.o").returncode == 0
    assert bench.peano("llvm-objcopy", "--redefine-sym=passthrough_u8=p_f passthrough.o").returncode == 0
    assert bench.peano("llvm-nm", "-P passthrough.o").stdout.startswith("p_f T")
    assert elf.read(bench.folder / "passthrough.o").machine == "aie2"
    assert bench.read("passthrough.o") != before


def test_chess_writes_no_depfile(bench: Bench) -> None:
    (bench.folder / "k.cc").write_text(KERNEL)
    vitis = bench.made["C2"].aietools
    assert bench.peano("xchesscc_wrapper", f"aie2 -aietools {vitis} -c k.cc -o k.o").returncode == 0
    assert elf.read(bench.folder / "k.o").machine == "aie2"
    assert bench.peano("xchesscc_wrapper", "aie2 -c k.cc -o k.o -MD -MF k.d").returncode == 1
    assert bench.peano("xchesscc_wrapper", "-c k.cc -o k.o").returncode == 1


# --- aiecc ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
def test_insts_are_deterministic_and_an_xclbin_is_not(bench: Bench, dialect: str) -> None:
    bench.compile()
    seen: dict[str, set[bytes]] = {"insts": set(), "xclbin": set()}
    for kind, contents in seen.items():
        for _ in range(2):
            done = bench.aiecc(dialect, wanted(dialect, kind, bench))
            assert done.returncode == 0, done.stderr
            contents.add(bench.read(f"x.{kind}"))
    assert len(seen["insts"]) == 1
    first, second = seen["xclbin"]
    assert first != second
    assert masked(first, "x.xclbin") == masked(second, "x.xclbin")


def test_insts_change_with_the_sequence_and_the_device_alone(bench: Bench) -> None:
    words = wanted("C2", "insts", bench)
    bench.aiecc("C2", words)
    first = bench.read("x.insts")
    bench.edit("arith.constant 1024 : i32", "arith.constant 512 : i32")
    bench.aiecc("C2", words)
    assert bench.read("x.insts") == first
    bench.edit("id = 0 : i64", "id = 3 : i64")
    bench.aiecc("C2", words)
    assert bench.read("x.insts") != first


@pytest.mark.parametrize("dialect", ["A", "B", "C0", "C1"])
def test_a_forgotten_flag_for_peano_is_found_out(bench: Bench, dialect: str) -> None:
    words = wanted(dialect, "insts", bench).replace("--no-xchesscc --no-xbridge", "")
    done = bench.aiecc(dialect, words)
    assert done.returncode == 1
    assert "Could not find aietools" in done.stderr


@pytest.mark.parametrize(
    ("dialect", "words", "message"),
    [
        ("C2", "--no-xchesscc x.mlir", "Unknown command line argument '--no-xchesscc'"),
        ("C2", "--aie-generate-xclbin x.mlir", "Unknown command line argument '--aie-generate-xclbin'"),
        ("C1", "--no-compile-host x.mlir", "Unknown command line argument '--no-compile-host'"),
        ("B", "--bogus-flag x.mlir", "Unknown command line argument '--bogus-flag'"),
        ("C0", "--get-xclbin x.mlir", "Unknown command line argument '--get-xclbin'"),
        ("A", "--placer=sa_placer x.mlir", "unrecognized arguments: --placer=sa_placer"),
        ("C2", "--get-xclbim x.mlir", "--get-xclbin, --get-npu-insts"),
        ("C2", "--get-npu-insts --peano=/no/such x.mlir", "--peano directory does not exist"),
        ("C2", "-n --get-npu-insts --aietools=/no/such x.mlir", "--aietools directory does not exist"),
        ("C2", "--get-npu-insts x.mlir y.mlir", "more than one input file"),
        ("C2", "--get-npu-insts missing.mlir", "could not open input file"),
        ("C2", "--expand-load-pdis --load-pdi-to-ctrl-pkt x.mlir", "mutually exclusive"),
        ("C2", "--alloc-scheme=best x.mlir", "Cannot find option named 'best'"),
        ("C2", "--get-xclbin --xclbinutil-path=/no/such x.mlir", "xclbinutil not found"),
        ("B", f"--aie-generate-xclbin {OLD} --peano=/no/such x.mlir", "expected type"),
    ],
)
def test_what_the_driver_refuses(bench: Bench, dialect: str, words: str, message: str) -> None:
    done = bench.aiecc(dialect, words)
    assert done.returncode != 0
    assert message in done.stderr


def test_an_old_b_passes_over_what_it_does_not_know(bench: Bench, tmp_path: Path) -> None:
    old = install(tmp_path / "old", "B", constants=("@lenient",))
    done = bench.run(old.aiecc, f"--bogus --aie-generate-npu-insts {OLD} --no-compile x.mlir")
    assert done.returncode == 0
    assert (tmp_path / "main_sequence.bin").exists()


def test_f24_a_file_in_the_working_folder_is_linked_before_one_beside_the_module(bench: Bench, tmp_path: Path) -> None:
    """So a stale object there wins, as with the real driver."""
    (tmp_path / "design").mkdir()
    (tmp_path / "x.mlir").rename(tmp_path / "design" / "x.mlir")
    bench.compile()
    (tmp_path / "passthrough.o").rename(tmp_path / "design" / "passthrough.o")
    words = wanted("C2", "xclbin", bench).replace(" x.mlir", " design/x.mlir")
    bench.aiecc("C2", words)
    first = masked(bench.read("x.xclbin"), "x.xclbin")
    bench.compile(KERNEL.replace("n--", "--n"))
    bench.aiecc("C2", words)
    assert masked(bench.read("x.xclbin"), "x.xclbin") != first


def test_a_missing_object_a_missing_symbol_and_another_arch_are_link_errors(bench: Bench) -> None:
    words = wanted("C2", "xclbin", bench)
    assert "cannot find passthrough.o: No such file" in bench.aiecc("C2", words).stderr
    bench.compile('extern "C" void other() {}\n')
    assert "undefined symbol: passthrough_u8" in bench.aiecc("C2", words).stderr
    bench.compile(arch="aie2p")
    assert "incompatible with elf32-aie2" in bench.aiecc("C2", words).stderr
    assert not (bench.folder / "x.xclbin").exists()


def two_functions(bench: Bench, second: str) -> None:
    """Make the core call a second function, of another file."""
    bench.edit(
        "    aie.core(%core) {",
        f'    func.func private @more() attributes {{link_with = "{second}"}}\n    aie.core(%core) {{',
    )
    bench.edit(
        "      aie.end\n    }\n    aie.run", "      func.call @more() : () -> ()\n      aie.end\n    }\n    aie.run"
    )


def test_n4_n5_two_objects_may_not_define_a_symbol_and_members_are_pulled_on_demand(bench: Bench) -> None:
    two_functions(bench, "more.o")
    bench.compile(KERNEL + 'extern "C" void zero() {}\n')
    bench.compile('extern "C" void more() {}\nextern "C" void zero() {}\n', "more.o")
    words = wanted("C2", "xclbin", bench)
    assert "duplicate symbol: zero" in bench.aiecc("C2", words).stderr
    bench.compile('extern "C" void zero() {}\n', "zero.o")
    bench.compile('extern "C" void zero();\nextern "C" void more() { zero(); }\n', "more.o")
    bench.peano("llvm-ar", "rcsD libmore.a more.o zero.o")
    bench.edit("more.o", "libmore.a")
    done = bench.aiecc("C2", words)
    assert done.returncode == 0, done.stderr


def test_n11_textual_ir_is_only_merged(bench: Bench) -> None:
    (bench.folder / "k.cc").write_text(KERNEL)
    bench.peano("clang++", "--target=aie2-none-unknown-elf -S -emit-llvm k.cc -o k.ll")
    bench.edit('"passthrough.o"', '"k.ll"')
    words = wanted("C2", "xclbin", bench)
    assert 'needs link_with_mode = "merge"' in bench.aiecc("C2", words).stderr
    bench.edit('"k.ll"', '"k.ll", link_with_mode = "merge"')
    assert bench.aiecc("C2", words).returncode == 0


def test_a_call_of_what_nobody_declares_is_said_as_the_driver_says_it(bench: Bench) -> None:
    bench.edit("func.func private @passthrough_u8", "func.func private @other")
    said = bench.aiecc("B", wanted("B", "insts", bench)).stderr
    assert "error: 'func.call' op 'passthrough_u8' does not reference a valid function" in said


def test_two_sequences_under_one_name_are_refused_by_c(bench: Bench) -> None:
    (bench.folder / "x.mlir").write_bytes((GOLDEN / "mlir" / "rtp.mlir").read_bytes())
    done = bench.aiecc("C2", "--get-npu-insts --npu-insts-name=x.bin x.mlir")
    assert "produced duplicate output path" in done.stderr
    assert bench.aiecc("C2", "--get-npu-insts --npu-insts-name=x_{0}.bin x.mlir").returncode == 0
    assert bench.aiecc("C2", "--get-npu-insts --npu-insts-name=x.bin --sequence-name=halves x.mlir").returncode == 0
    assert bench.read("x.bin") == bench.read("x_main_halves.bin") != bench.read("x_main_triple.bin")


def test_n13_two_kernels_of_one_id_are_merged_in_silence(bench: Bench) -> None:
    bench.compile()
    words = wanted("C2", "xclbin", bench)
    bench.aiecc("C2", words.replace("x.xclbin", "one.xclbin"))
    done = bench.aiecc("C2", f"--xclbin-input=one.xclbin --xclbin-kernel-name=B {words}")
    assert done.returncode == 0
    told = bench.peano("xclbinutil", "--info --input x.xclbin --quiet").stdout
    assert told.count("Kernel:") == 1
    bench.aiecc("C2", f"--xclbin-input=one.xclbin --xclbin-kernel-id=0x902 {words}")
    assert bench.peano("xclbinutil", "--info --input x.xclbin --quiet").stdout.count("Kernel:") == 2


def test_a_dry_run_writes_nothing_and_still_looks_at_its_options(bench: Bench) -> None:
    done = bench.aiecc("C2", f"-n {wanted('C2', 'insts', bench)}")
    assert done.returncode == 0
    assert [path.name for path in bench.folder.iterdir()] == ["x.mlir"]


def test_relative_outputs_of_c_go_below_its_output_folder(bench: Bench) -> None:
    (bench.folder / "out").mkdir()
    bench.aiecc("C2", "--get-npu-insts --npu-insts-name=a.bin --output-dir=out x.mlir")
    assert (bench.folder / "out" / "a.bin").exists()


# --- other tools ----------------------------------------------------------------------------------------------------


def test_xclbinutil_takes_an_xclbin_apart_and_puts_it_together(bench: Bench) -> None:
    (bench.folder / "m.json").write_text('{"m": 1}')
    (bench.folder / "p.json").write_text('{"p": 2}')
    kernel = {"name": "K", "extended-data": {"dpu_kernel_id": "0x905"}}
    (bench.folder / "k.json").write_text(json.dumps({"ps-kernels": {"kernels": [kernel]}}))
    words = "--add-replace-section MEM_TOPOLOGY:JSON:m.json --add-kernel k.json "
    words += "--add-replace-section AIE_PARTITION:JSON:p.json --force --output x.xclbin"
    assert bench.peano("xclbinutil", words).returncode == 0
    bench.peano("xclbinutil", "--dump-section AIE_PARTITION:JSON:d.json --force --quiet --input x.xclbin")
    assert json.loads(bench.read("d.json")) == {"p": 2}
    fixed = "00000000-0000-0000-0000-00000000002a"
    bench.peano("xclbinutil", f"--input x.xclbin --key-value SYS:XclbinUUID:{fixed} --force --output z.xclbin")
    assert bench.read("z.xclbin") != bench.read("x.xclbin")
    skip = "--skip-uuid-insertion"
    bench.peano("xclbinutil", f"--input x.xclbin --key-value SYS:XclbinUUID:{fixed} {skip} --output y.xclbin")
    assert (
        bench.peano("xclbinutil", "--info --input y.xclbin --quiet").stdout == f"UUID: {fixed}\nKernel: K (id 0x905)\n"
    )
    assert bench.peano("xclbinutil", "--input missing.xclbin --info").returncode == 1


def test_bootgen_makes_a_pdi_of_an_image(bench: Bench) -> None:
    (bench.folder / "x.bif").write_text("all: {}")
    assert bench.peano("bootgen", "-arch versal -image x.bif -o x.pdi -w").returncode == 0
    assert bench.read("x.pdi").startswith(b"PDI ")


def test_aie_opt_verifies_and_prints(bench: Bench, tmp_path: Path) -> None:
    tool = install(tmp_path / "more", aie_opt=True).mlir_aie / "bin" / "aie-opt"
    assert bench.run(tool, "x.mlir").stdout == bench.read("x.mlir").decode()
    assert bench.run(tool, "x.mlir -o y.mlir").returncode == 0
    assert bench.read("y.mlir") == bench.read("x.mlir")
    bench.edit("module {", "module")
    failed = bench.run(tool, "x.mlir")
    assert failed.returncode == 1
    assert "x.mlir:1:1: error:" in failed.stderr


# --- faults ---------------------------------------------------------------------------------------------------------


def test_a_tool_can_be_told_to_fail_always_or_once(bench: Bench) -> None:
    words = wanted("C2", "insts", bench)
    log = str(bench.folder / "log")
    assert bench.aiecc("C2", words, AIE_STUB_FAIL="aiecc").returncode == 1
    assert not (bench.folder / "x.insts").exists()
    results = [bench.aiecc("C2", words, AIE_STUB_FAIL="aiecc:2", AIE_STUB_LOG=log).returncode for _ in range(3)]
    assert results == [0, 1, 0]
    assert bench.aiecc("C2", words, AIE_STUB_FAIL="clang++").returncode == 0


@pytest.mark.parametrize("how", ["", ":kill"])
def test_c2_a_tool_can_stop_in_the_middle_of_its_output(bench: Bench, how: str) -> None:
    words = wanted("C2", "insts", bench)
    bench.aiecc("C2", words)
    whole = bench.read("x.insts")
    done = bench.aiecc("C2", words, AIE_STUB_PARTIAL=f"aiecc{how}")
    assert done.returncode == (-signal.SIGKILL if how else 1)
    assert bench.read("x.insts") == whole[: len(whole) // 2]


@pytest.mark.parametrize("tool", ["clang++", "llvm-ar", "xchesscc_wrapper", "llvm-objcopy"])
def test_each_tool_can_write_half(bench: Bench, tool: str) -> None:
    bench.compile(name="k.o")
    (bench.folder / "k.cc").write_text(KERNEL)
    words = {
        "clang++": "--target=aie2-none-unknown-elf -c k.cc -o out",
        "llvm-ar": "rcsD out k.o",
        "xchesscc_wrapper": "aie2 -c k.cc -o out",
        "llvm-objcopy": "--redefine-sym=a=b k.o out",
    }[tool]
    assert bench.peano(tool, words).returncode == 0
    whole = len(bench.read("out"))
    (bench.folder / "out").unlink()
    assert bench.peano(tool, words, AIE_STUB_PARTIAL=tool).returncode == 1
    assert len(bench.read("out")) == whole // 2


def test_u17_a_tool_can_do_nothing_and_be_content(bench: Bench) -> None:
    bench.compile()
    for tool in ("aiecc", "xclbinutil"):
        assert bench.aiecc("B", wanted("B", "xclbin", bench), AIE_STUB_SILENT=tool).returncode == 0
        assert not (bench.folder / "x.xclbin").exists()


def test_c5_a_driver_can_leave_litter_in_the_working_folder(bench: Bench) -> None:
    (bench.folder / "out").mkdir()
    words = wanted("C2", "insts", bench).replace("x.insts", "out/x.insts")
    bench.aiecc("C2", words)
    assert not (bench.folder / "x.insts").exists()
    bench.aiecc("C2", words, AIE_STUB_LITTER="1")
    assert (bench.folder / "x.insts").exists()
    assert (bench.folder / "main_core_0_2.o").exists()


def test_each_call_is_logged_with_its_arguments_and_folder(bench: Bench) -> None:
    log = bench.folder / "log"
    bench.aiecc("A", wanted("A", "insts", bench), AIE_STUB_LOG=str(log), VIRTUAL_ENV="/v")
    (call,) = [json.loads(line) for line in log.read_text().splitlines()]
    assert call["tool"] == "aiecc"
    assert call["argv"] == wanted("A", "insts", bench).split()
    assert call["cwd"] == str(bench.folder)
    assert call["env"]["VIRTUAL_ENV"] == "/v"


def test_a_version_can_be_told(bench: Bench) -> None:
    said = bench.peano("clang++", "--version", AIE_STUB_VERSION="7").stdout
    assert said.splitlines()[0] == "clang version 21.0.0 (stand-in 7)"
    assert "git SHA:  abc" in bench.aiecc("C2", "--aie-version", AIE_STUB_VERSION="abc").stdout
    assert bench.aiecc("A", "--version", AIE_STUB_VERSION="abcdef012").stdout == "aiecc.py abcdef012\n"


def test_no_stand_in_is_swayed_by_the_rest_of_the_environment(bench: Bench) -> None:
    bench.compile()
    words = wanted("C2", "insts", bench)
    bench.aiecc("C2", words)
    first = bench.read("x.insts")
    others = {"PEANO_INSTALL_DIR": "/no/such", "AIE_XCLBINUTIL": "/no/such", "LANG": "tr_TR", "PYTHONPATH": "/no/such"}
    assert bench.aiecc("C2", words, **others, HOME=os.devnull).returncode == 0
    assert bench.read("x.insts") == first
