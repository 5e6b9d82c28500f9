"""What aiecc is asked, word by word, in each dialect; what a dialect cannot do; what couples insts to cores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from aiebuild.errors import AieBuildBug, Location, RecipeError, ToolchainError
from aiebuild.toolchains.aiecc import (
    OUTPUTS,
    SPELLINGS,
    check,
    command,
    couplings,
    needs_cores,
    path_folders,
    signature_command,
    verify_command,
)
from aiebuild.toolchains.aiecc_dialect import Dialect
from aiebuild.toolchains.aiecc_options import KINDS, AieccOptions, AieccRequest, check_kinds, make_options
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Mapping

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "aiecc"
AIECC = "/opt/mlir_aie/bin/aiecc"
EVERYTHING = AieccOptions(
    alloc_scheme="basic-sequential",
    dynamic_objfifos=True,
    packet_sw_objfifos=True,
    opt_level=3,
    unified=False,
    ctrl_pkt_overlay=True,
    materialize=False,
    xclbin_kernel_name="MLIR_AIE_x",
    xclbin_instance_name="MLIRAIE_x",
    xclbin_kernel_id=0x902,
    xclbin_input="/in/first.xclbin",
    flags=("--verbose",),
)
PLACED = AieccOptions(placer="sa_placer", sa_seed=7, cores_per_col=2, bf16_emulation=True)


def request(kinds: str, **changes: object) -> AieccRequest:
    """Return a request for kinds of outputs, named as in `build/`."""
    outputs: Mapping[str, str] = {kind: f"/out/x.{kind}" for kind in kinds.split()}
    values: dict[str, object] = {
        "mlir": "x.mlir",
        "outputs": outputs,
        "tmpdir": "/scratch/tmp",
        "peano_dir": "/opt/llvm-aie",
    }
    return AieccRequest(**(values | changes))  # type: ignore[arg-type] # the tests' own names and types


CASES = {
    "xclbin": request("xclbin"),
    "xclbin_on_four_threads": request("xclbin", jobs=4),
    "xclbin_by_chess": request("xclbin", toolchain="chess", aietools_dir="/opt/vitis", peano_dir=""),
    "xclbin_with_xclbinutil": request("xclbin", xclbinutil="/opt/xrt/bin/xclbinutil"),
    "xclbin_and_insts": request("xclbin insts"),
    "insts": request("insts", peano_dir=""),
    "insts_by_chess": request("insts", toolchain="chess", aietools_dir="/opt/vitis"),
    "insts_of_a_sequence": request("insts", sequence="halves"),
    "insts_of_a_device": request("insts", device_name="left"),
    "insts_that_hold_programs": request("insts", options=AieccOptions(expand_load_pdis=True)),
    "insts_in_control_packets": request("insts", options=AieccOptions(load_pdi_to_ctrl_pkt=True)),
    "pdi": request("pdi"),
    "elf": request("elf"),
    "full_elf": request("full_elf"),
    "cdo": request("cdo"),
    "txn": request("txn"),
    "ctrlpkt": request("ctrlpkt"),
    "core_elfs": request("core_elfs"),
    "physical_mlir": request("physical_mlir"),
    "every_option": request("xclbin", options=EVERYTHING),
    "placed": request("xclbin", options=PLACED),
    "switched_off": request("xclbin", options=AieccOptions(dynamic_objfifos=False, unified=True)),
    "for_another_runtime": request("insts", options=AieccOptions(fold_ddr_addr_offset=False)),
}


@pytest.mark.parametrize("dialect", Dialect, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_u7_the_command_of_each_dialect_is_the_golden_one(
    case: str, dialect: Dialect, pytestconfig: pytest.Config
) -> None:
    try:
        said = "\n".join(command(dialect, AIECC, CASES[case])) + "\n"
    except ToolchainError as error:
        said = f"{error}\n"
    golden = GOLDEN / f"{case}.{dialect}.txt"
    if pytestconfig.getoption("--rewrite"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(said, encoding="utf-8")
    assert said == golden.read_text(encoding="utf-8")


def test_no_golden_command_is_left_without_its_case() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {
        f"{case}.{dialect}.txt" for case in CASES for dialect in Dialect
    }


def test_the_insts_command_of_b_is_the_one_that_the_real_driver_took() -> None:
    seen = "--aie-generate-npu-insts --npu-insts-name=ABS --no-compile-host --no-xchesscc --no-xbridge --no-compile"
    words = seen.replace("ABS", "/out/x.insts").split()
    assert command(Dialect.B, "aiecc", request("insts")) == ("aiecc", *words, "--tmpdir=/scratch/tmp", "x.mlir")


@pytest.mark.parametrize("dialect", Dialect, ids=str)
def test_insts_are_asked_for_without_a_compiler_of_cores(dialect: Dialect) -> None:
    """So that neither another Peano nor the other toolchain touches them."""
    plain = command(dialect, AIECC, request("insts", peano_dir="", jobs=0))
    assert command(dialect, AIECC, request("insts", jobs=8)) == plain
    assert command(dialect, AIECC, request("insts", toolchain="chess", aietools_dir="/opt/vitis")) == plain


def test_options_of_cores_and_xclbins_do_not_touch_insts() -> None:
    options = make_options({"opt_level": 3, "unified": True, "xclbin_kernel_id": 0x903, "alloc_scheme": "bank-aware"})
    words = command(Dialect.C2, AIECC, request("insts", options=options))
    assert [word for word in words if "alloc" in word or "level" in word or "unified" in word or "id=" in word] == [
        "--alloc-scheme=bank-aware"
    ]
    both = command(Dialect.C2, AIECC, request("xclbin insts", options=options))
    assert {"--opt-level=3", "--unified", "--xclbin-kernel-id=0x903"} <= set(both)


def test_c2_is_never_given_what_it_refuses() -> None:
    for case in CASES.values():
        try:
            words = command(Dialect.C2, AIECC, case)
        except ToolchainError:
            continue
        assert not [word for word in words if "no-xchesscc" in word or "aie-generate" in word or "host" in word]


REFUSED = [
    ("full_elf", {}, Dialect.A, f"full_elf needs aiecc dialect B or later; {AIECC} is A"),
    ("core_elfs", {}, Dialect.C0, f"core_elfs needs aiecc dialect A, B, C1 or C2; {AIECC} is C0"),
    ("xclbin", {"placer": "sa_placer"}, Dialect.A, f"placer needs aiecc dialect B or later; {AIECC} is A"),
    ("xclbin", {"sa_seed": 3}, Dialect.A, f"sa_seed needs aiecc dialect B or later; {AIECC} is A"),
    ("xclbin", {"cores_per_col": 2}, Dialect.A, f"cores_per_col needs aiecc dialect B or later; {AIECC} is A"),
    ("xclbin", {"bf16_emulation": True}, Dialect.A, f"bf16_emulation needs aiecc dialect B or later; {AIECC} is A"),
    *[
        ("insts", {name: True}, dialect, f"{name} needs aiecc dialect C1 or later; {AIECC} is {dialect}")
        for name in ("fold_ddr_addr_offset", "load_pdi_to_ctrl_pkt")
        for dialect in (Dialect.A, Dialect.B, Dialect.C0)
    ],
    *[
        ("insts", {"measure_stack": False}, dialect, f"measure_stack needs aiecc dialect C2; {AIECC} is {dialect}")
        for dialect in (Dialect.A, Dialect.B, Dialect.C0, Dialect.C1)
    ],
]


@pytest.mark.parametrize(("kind", "options", "dialect", "message"), REFUSED)
def test_u7_what_a_dialect_cannot_do_is_said(
    kind: str, options: dict[str, object], dialect: Dialect, message: str
) -> None:
    where = Location("designs/x/SConscript", 5)
    with pytest.raises(ToolchainError) as caught:
        command(dialect, AIECC, request(kind, options=make_options(options)), where=where)
    assert caught.value.message == message
    assert caught.value.where == where
    assert "mlir-aie" in caught.value.hint


def test_every_gap_of_the_table_is_among_the_errors_above() -> None:
    tables = {
        **{name: output.dialects for name, output in OUTPUTS.items()},
        **{n: s.dialects for n, s in SPELLINGS.items()},
    }
    gaps = {(name, dialect) for name, dialects in tables.items() for dialect in Dialect if dialect not in dialects}
    assert gaps == {(message.split(" ", 1)[0], dialect) for _, _, dialect, message in REFUSED}


def test_all_that_cannot_be_done_is_told_at_once() -> None:
    options = make_options({"placer": "sa_placer", "bf16_emulation": True})
    errors = check(Dialect.A, AIECC, ("full_elf",), options)
    assert [error.message.split(" ", 1)[0] for error in errors] == ["full_elf", "placer", "bf16_emulation"]


def test_every_kind_and_every_option_is_in_the_table() -> None:
    assert set(OUTPUTS) == set(KINDS)
    assert {*SPELLINGS, "flags"} == set(AieccOptions.__dataclass_fields__)


def test_u5_an_option_that_this_version_does_not_list_is_refused() -> None:
    """The first versions of B took what they did not know in silence."""
    listed = frozenset({"--alloc-scheme", "-j"})
    options = make_options({"alloc_scheme": "bank-aware", "placer": "sa_placer"})
    (error,) = check(Dialect.B, AIECC, ("xclbin",), options, listed=listed)
    assert error.message == f"placer needs --placer, which {AIECC} --help does not list"
    assert check(Dialect.B, AIECC, ("xclbin",), make_options({"alloc_scheme": "bank-aware"}), listed=listed) == []


@pytest.mark.parametrize("dialect", Dialect, ids=str)
@pytest.mark.parametrize("name", sorted(SPELLINGS))
def test_u5_each_option_that_is_accepted_reaches_aiecc(name: str, dialect: Dialect) -> None:
    """One of its values at least must change the command, unless it is refused."""
    values: dict[str, list[object]] = {
        "alloc_scheme": ["bank-aware"],
        "placer": ["sa_placer"],
        "opt_level": [1],
        "sa_seed": [3],
        "cores_per_col": [2],
        "xclbin_kernel_id": [0x905],
    }
    text: list[object] = ["a"]
    tried = values.get(name, text if name.startswith("xclbin") else [True, False])
    if dialect not in SPELLINGS[name].dialects:
        return
    plain = command(dialect, AIECC, request("xclbin"))
    assert any(command(dialect, AIECC, request("xclbin", options=AieccOptions(**{name: v}))) != plain for v in tried)  # type: ignore[arg-type]


@given(jobs=st.integers(0, 64), tmpdir=st.sampled_from(["/a", "/b/c"]), dialect=st.sampled_from(list(Dialect)))
def test_c9_threads_and_places_are_not_part_of_a_signature(jobs: int, tmpdir: str, dialect: Dialect) -> None:
    one = request("xclbin")
    other = request(
        "xclbin", jobs=jobs, tmpdir=tmpdir, mlir="/elsewhere/x.mlir", outputs={"xclbin": "/o.xclbin"}, peano_dir="/p"
    )
    assert signature_command(dialect, one) == signature_command(dialect, other)


@pytest.mark.parametrize(
    "changes",
    [
        {"options": AieccOptions(opt_level=1)},
        {"options": AieccOptions(flags=("--x",))},
        {"toolchain": "chess"},
        {"device_name": "left"},
        {"outputs": {"xclbin": "/out/x", "insts": "/out/y"}},
        {"options": AieccOptions(xclbin_input="/x")},
    ],
)
def test_what_changes_a_result_is_part_of_the_signature(changes: dict[str, object]) -> None:
    plain = signature_command(Dialect.C2, request("xclbin"))
    assert signature_command(Dialect.C2, request("xclbin", **changes)) != plain


def test_the_dialect_is_part_of_the_signature() -> None:
    assert len({signature_command(dialect, request("xclbin")) for dialect in Dialect}) == len(Dialect)


def test_f22_insts_depend_on_the_cores_only_where_an_option_couples_them() -> None:
    assert couplings(AieccOptions()) == ()
    assert couplings(EVERYTHING) == ()
    assert "expand_load_pdis" in couplings(AieccOptions(expand_load_pdis=True))[0]
    assert "load_pdi_to_ctrl_pkt" in couplings(AieccOptions(load_pdi_to_ctrl_pkt=True))[0]
    assert couplings(AieccOptions(flags=("--expand-load-pdis",)))
    assert not couplings(AieccOptions(flags=("--expand-load-pdis=false",)))


def test_a_measured_stack_couples_insts_to_the_cores() -> None:
    listed = frozenset({"--no-measure-stack-size"})
    assert "measure_stack" in couplings(AieccOptions(), listed)[0]
    assert couplings(AieccOptions(measure_stack=False), listed) == ()
    assert needs_cores(request("insts"), listed)
    words = command(Dialect.C2, AIECC, request("insts"), listed=listed)
    assert "--peano=/opt/llvm-aie" in words


@pytest.mark.parametrize("kind", ["insts", "elf", "physical_mlir"])
def test_what_comes_from_the_module_alone_needs_no_core(kind: str) -> None:
    assert not needs_cores(request(kind))
    assert needs_cores(request(f"{kind} xclbin"))


def test_a_seed_of_0_is_not_deterministic() -> None:
    assert make_options({"sa_seed": 1}).is_deterministic
    assert not make_options({"sa_seed": 0}).is_deterministic
    assert not make_options({"flags": ["--sa-seed=0"]}).is_deterministic


@pytest.mark.parametrize(
    ("values", "message", "hint"),
    [
        ({"alloc_schem": "x"}, "aiecc has no option 'alloc_schem'", "alloc_scheme"),
        ({"alloc_scheme": "best"}, "alloc_scheme 'best' is not a choice", "bank-aware"),
        ({"placer": "random"}, "placer 'random' is not a choice", "sa_placer"),
        ({"opt_level": 4}, "opt_level 4 is out of range", "0 to 3"),
        ({"opt_level": True}, "opt_level is a whole number, not True", ""),
        ({"opt_level": "2"}, "opt_level is a whole number, not '2'", ""),
        ({"unified": 1}, "unified is True or False, not 1", ""),
        ({"xclbin_kernel_id": 0}, "xclbin_kernel_id 0 is out of range", "1 to 65535"),
        ({"flags": "-v"}, "flags is a list of texts, not '-v'", "flags=['-v']"),
        ({"flags": ["--tmpdir=/x"]}, "flags may not have --tmpdir=/x", "outputs="),
        ({"flags": ["--no-xchesscc"]}, "flags may not have --no-xchesscc", ""),
        ({"expand_load_pdis": True, "load_pdi_to_ctrl_pkt": True}, "exclude each other", "not both"),
        ({"placer": "sequential_placer", "sa_seed": 2}, "no effect", "sa_placer"),
    ],
)
def test_a_wrong_option_is_an_error_that_says_what_is_right(values: dict[str, object], message: str, hint: str) -> None:
    with pytest.raises(RecipeError) as caught:
        make_options(values, Location("SConscript", 3))
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert str(caught.value.where) == "SConscript:3"


def test_a_wrong_output_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(RecipeError, match="a design has no output 'xclbim'") as caught:
        check_kinds(["insts", "xclbim"])
    assert "'xclbin'" in caught.value.hint
    assert check_kinds(["insts", "xclbin", "insts"]) == ("xclbin", "insts")


def test_relative_paths_are_a_fault_of_ours() -> None:
    """aiecc runs in a folder of its own: a relative output would land there."""
    with pytest.raises(AieBuildBug):
        request("xclbin", tmpdir="tmp")
    with pytest.raises(AieBuildBug):
        request("", outputs={"xclbin": "x.xclbin"})
    with pytest.raises(AieBuildBug):
        request("")


def test_aie_opt_verifies_without_printing() -> None:
    assert verify_command("/opt/aie-opt", "x.mlir", "/scratch/tmp/verified.mlir") == (
        *("/opt/aie-opt", "x.mlir", "-o", "/scratch/tmp/verified.mlir"),
    )


def test_tools_that_no_argument_names_are_put_on_path() -> None:
    with_tool = request("xclbin", xclbinutil="/opt/xrt/bin/xclbinutil")
    assert path_folders(Dialect.B, with_tool) == ("/opt/xrt/bin",)
    assert path_folders(Dialect.C2, with_tool) == ()
    chess = request("xclbin", toolchain="chess", aietools_dir="/opt/vitis")
    assert path_folders(Dialect.A, chess) == ("/opt/vitis/bin",)
    assert path_folders(Dialect.B, chess) == ()
