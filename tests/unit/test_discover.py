"""Where tools are found: each by its own list, a named place that is not there is an error, never a host's LLVM."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from aiebuild.environment import Environment
from aiebuild.errors import Location, ToolchainError
from aiebuild.toolchains.aiecc_dialect import Dialect
from aiebuild.toolchains.discover import (
    BY_NAME,
    MLIR_AIE,
    PEANO,
    TOOLS,
    Found,
    Missing,
    Places,
    find,
    find_root,
    python_interpreter,
    require,
)
from aiebuild.toolchains.doctor import Report, inspect, wheel_version
from aiebuild.toolchains.known_bad import KNOWN_BAD, Versions, warnings
from installations import Installation, install, launch

if TYPE_CHECKING:
    from pathlib import Path

LLVM_TOOLS = ("clang++", "llvm-ar", "llvm-nm", "llvm-objcopy", "ld.lld")


def places(*search: Path, **variables: str) -> Places:
    """Return places to look at: folders of `sys.path`, and variables."""
    environment = Environment.of({"PATH": "/usr/bin:/bin", **variables})
    return Places(environment, tuple(str(path) for path in search), sys.executable)


@pytest.fixture
def wheels(tmp_path: Path) -> Installation:
    """Both wheels in the `site-packages` of an environment, which has a Python."""
    packages = tmp_path / "venv" / "lib" / "python3.11" / "site-packages"
    launch(tmp_path / "venv" / "bin" / "python3", "ld_lld.py")
    return install(packages, aie_opt=True)


def test_u9_each_tool_is_found_in_the_wheel_that_has_it(wheels: Installation) -> None:
    here = places(wheels.packages)
    found = {name: require(name, here) for name in ("clang++", "llvm-objcopy", "aiecc", "aie_api")}
    assert found["clang++"] == str(wheels.peano / "bin" / "clang++")
    assert found["llvm-objcopy"] == str(wheels.mlir_aie / "bin" / "llvm-objcopy")
    assert found["aiecc"] == str(wheels.mlir_aie / "bin" / "aiecc")
    assert found["aie_api"] == str(wheels.mlir_aie / "include" / "aie_api")


def test_u25_the_active_environment_is_enough(wheels: Installation) -> None:
    active = str(wheels.packages.parents[2])
    found = find("clang++", places(VIRTUAL_ENV=active))
    assert found == Found(str(wheels.peano / "bin" / "clang++"), "wheel in VIRTUAL_ENV")


@pytest.mark.parametrize("name", LLVM_TOOLS)
def test_u8_llvm_of_the_host_is_never_taken(name: str, tmp_path: Path) -> None:
    launch(tmp_path / "bin" / name, "llvm_ar.py")
    found = find(name, places(PATH=str(tmp_path / "bin")))
    assert isinstance(found, Missing)
    assert "PATH" not in found.tried


def test_tools_that_are_not_llvms_may_come_from_path(tmp_path: Path) -> None:
    launch(tmp_path / "bin" / "xclbinutil", "xclbinutil.py")
    assert find("xclbinutil", places(PATH=str(tmp_path / "bin"))) == Found(str(tmp_path / "bin" / "xclbinutil"), "PATH")


@pytest.mark.parametrize(
    ("tool", "variable"),
    [
        ("clang++", "PEANO_INSTALL_DIR"),
        ("aiecc", "MLIR_AIE_INSTALL_DIR"),
        ("aiecc", "MLIR_AIE_DIR"),
        ("aiecc", "AIECC_PATH"),
        ("xclbinutil", "AIE_XCLBINUTIL"),
        ("aietools", "AIETOOLS_ROOT"),
        ("aietools", "AIETOOLS_DIR"),
    ],
)
def test_u8_a_variable_that_names_nothing_is_an_error(tool: str, variable: str, wheels: Installation) -> None:
    """Though the wheels would have the tool."""
    with pytest.raises(ToolchainError) as caught:
        find(tool, places(wheels.packages, **{variable: "/no/such/place"}))
    assert caught.value.message == f"{variable}=/no/such/place does not exist"
    assert variable in caught.value.hint


@pytest.mark.parametrize(
    ("tool", "option"),
    [("clang++", "peano_dir"), ("aiecc", "mlir_aie_dir"), ("aiecc", "aiecc"), ("xclbinutil", "xclbinutil")],
)
def test_an_option_that_names_nothing_is_an_error(tool: str, option: str, wheels: Installation) -> None:
    with pytest.raises(ToolchainError, match=f"{option}=/no/such does not exist"):
        find(tool, replace(places(wheels.packages), options={option: "/no/such"}))


def test_u8_a_named_installation_without_its_main_program_is_an_error(wheels: Installation, tmp_path: Path) -> None:
    for variable, tool in (("PEANO_INSTALL_DIR", "clang++"), ("MLIR_AIE_INSTALL_DIR", "aiecc")):
        with pytest.raises(ToolchainError, match=f"{variable}=.* has no bin/"):
            find(tool, places(wheels.packages, **{variable: str(tmp_path)}))


def test_a_folder_where_a_program_is_named_is_an_error(wheels: Installation) -> None:
    with pytest.raises(ToolchainError, match=r"AIECC_PATH=.* is a folder, not a program"):
        find("aiecc", places(wheels.packages, AIECC_PATH=str(wheels.mlir_aie)))


def test_the_order_is_option_variable_wheel(tmp_path: Path) -> None:
    one, two, three = (install(tmp_path / name / "site-packages") for name in ("one", "two", "three"))
    named = places(three.packages, PEANO_INSTALL_DIR=str(two.peano))
    here = replace(named, options={"peano_dir": str(one.peano)})
    assert require("clang++", here) == str(one.peano / "bin" / "clang++")
    here = places(three.packages, PEANO_INSTALL_DIR=str(two.peano))
    assert find("clang++", here) == Found(f"{two.peano}/bin/clang++", f"PEANO_INSTALL_DIR={two.peano}")
    assert require("clang++", places(three.packages)) == str(three.peano / "bin" / "clang++")


def test_a_missing_tool_says_what_was_tried_and_how_to_get_it(tmp_path: Path) -> None:
    packages = tmp_path / "site-packages"
    found = find("clang++", places(packages))
    assert isinstance(found, Missing)
    assert found.tried == (
        f"wheel in this Python ({packages}/llvm-aie/bin/clang++)",
        "PEANO_INSTALL_DIR (not set)",
    )
    assert "llvm-aie" in found.hint
    where = Location("SConscript", 4)
    with pytest.raises(ToolchainError, match=r"clang\+\+ is not installed; tried: wheel in this Python") as caught:
        require("clang++", places(packages), where)
    assert caught.value.where == where


def test_folders_of_sys_path_that_hold_no_packages_are_not_searched(tmp_path: Path) -> None:
    install(tmp_path / "work")
    assert isinstance(find("clang++", places(tmp_path / "work")), Missing)


def test_an_aiecc_of_dialect_a_is_found_by_its_own_name(tmp_path: Path) -> None:
    old = install(tmp_path / "site-packages", "A")
    assert require("aiecc", places(old.packages)) == str(old.mlir_aie / "bin" / "aiecc.py")


@pytest.mark.skipif(os.name == "nt", reason="the names are those of Windows")
def test_a_program_may_have_the_ending_of_windows(tmp_path: Path) -> None:
    program = tmp_path / "site-packages" / "llvm-aie" / "bin" / "clang++.exe"
    program.parent.mkdir(parents=True)
    program.touch()
    assert require("clang++", places(tmp_path / "site-packages")) == str(program)


def test_generators_run_in_the_environment_that_has_mlir_aie(wheels: Installation) -> None:
    assert python_interpreter(places()).path == sys.executable
    assert python_interpreter(places(wheels.packages)).path == sys.executable
    named = python_interpreter(places(MLIR_AIE_INSTALL_DIR=str(wheels.mlir_aie)))
    assert named.path == str(wheels.packages.parents[2] / "bin" / "python3")
    assert "MLIR_AIE_INSTALL_DIR" in named.how


def test_an_installation_outside_an_environment_leaves_the_running_python(tmp_path: Path) -> None:
    made = install(tmp_path / "built")
    assert python_interpreter(places(MLIR_AIE_INSTALL_DIR=str(made.mlir_aie))).path == sys.executable


def test_roots_are_found_as_their_tools_are(wheels: Installation) -> None:
    assert find_root(PEANO, places(wheels.packages)) == Found(str(wheels.peano), "wheel in this Python")
    assert isinstance(find_root(MLIR_AIE, places()), Missing)


def test_every_tool_says_how_to_get_it() -> None:
    assert all(tool.hint and tool.purpose for tool in TOOLS)
    assert len(BY_NAME) == len(TOOLS)


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> tuple[Installation, Report]:
    """A complete installation, and the report of it."""
    made = install(tmp_path_factory.mktemp("complete") / "site-packages", aie_opt=True)
    return made, inspect(places(made.packages))


def test_u9_the_report_tells_each_tool_where_it_is_and_which(complete: tuple[Installation, Report]) -> None:
    wheels, report = complete
    lines = {line.name: line for line in report.tools}
    assert list(lines) == [tool.name for tool in TOOLS]
    assert lines["clang++"].version == "clang version 21.0.0 (stand-in 1)"
    assert lines["aiecc"].version == "aiecc (mlir-aie declarative driver) 3ca0193ce0f4a1b2c3d4"
    assert lines["aie-opt"].version == "LLVM version 23.0.0git"
    assert lines["xchesscc_wrapper"].path == ""
    assert report.dialect == "C2"
    assert report.targets == {"aie2": True, "aie2p": True}
    assert report.can_build == ("aie2", "aie2p")
    text = report.text()
    assert f"clang++           {wheels.peano}/bin/clang++  clang version 21.0.0" in text
    assert "xchesscc_wrapper  not found" in text
    assert "can build for: host, aie2, aie2p" in text


def test_the_report_of_programs_is_json(complete: tuple[Installation, Report]) -> None:
    record = json.loads(json.dumps(complete[1].to_json()))
    assert record["dialect"] == "C2"
    assert record["can_build"] == ["aie2", "aie2p"]
    assert {line["name"] for line in record["tools"]} == set(BY_NAME)


@pytest.mark.parametrize("dialect", Dialect, ids=str)
def test_the_report_names_the_dialect(dialect: Dialect, tmp_path: Path) -> None:
    made = install(tmp_path / "site-packages", str(dialect))
    assert inspect(places(made.packages)).dialect == str(dialect)


def test_the_dialect_that_is_named_wins_in_the_report(wheels: Installation) -> None:
    assert inspect(places(wheels.packages), "C1").dialect == "C1"


def test_u10_the_report_says_which_targets_are_there(tmp_path: Path) -> None:
    made = install(tmp_path / "site-packages", refuse="aie2p")
    said = inspect(places(made.packages))
    assert said.targets == {"aie2": True, "aie2p": False}
    assert said.can_build == ("aie2",)


def test_the_report_holds_what_is_wrong_and_goes_on(wheels: Installation) -> None:
    said = inspect(places(wheels.packages, PEANO_INSTALL_DIR="/no/such"))
    lines = {line.name: line for line in said.tools}
    assert lines["clang++"].problem == "PEANO_INSTALL_DIR=/no/such does not exist"
    assert lines["aiecc"].path
    assert said.can_build == ()
    assert "clang++           unusable: PEANO_INSTALL_DIR=/no/such does not exist" in said.text()


def test_u3_the_report_needs_nothing_installed() -> None:
    said = inspect(places())
    assert said.dialect == ""
    assert said.can_build == ()
    assert "can build for: host\n" in said.text()


def test_the_version_of_a_wheel_is_that_of_its_metadata(wheels: Installation) -> None:
    assert wheel_version(f"{wheels.peano}/bin/clang++", "llvm_aie") == ""
    (wheels.packages / "llvm_aie-21.0.0.2026080301+c9c5ecb7.dist-info").mkdir()
    assert wheel_version(f"{wheels.peano}/bin/clang++", "llvm_aie") == "21.0.0.2026080301+c9c5ecb7"


OLD = "clang version 19.0.0 (x)"


@pytest.mark.parametrize(
    ("versions", "count"),
    [
        (Versions(Dialect.B, OLD), 1),
        (Versions(Dialect.C2, OLD), 1),
        (Versions(Dialect.A, OLD), 0),
        (Versions(None, OLD), 0),
        (Versions(Dialect.C2, "clang version 21.0.0 (x)"), 0),
        (Versions(Dialect.C2, peano_wheel="21.0.0.2026062301+cb664e8c"), 0),
        (Versions(Dialect.C2, peano_wheel="21.0.0.2026062401+0"), 1),
        (Versions(Dialect.C2, peano_wheel="21.0.0.2026080301+c9c5ecb7"), 0),
        (Versions(Dialect.A, aiecc_is_wheel=True, same_python=False), 1),
        (Versions(Dialect.C2, aiecc_is_wheel=True, same_python=False), 0),
    ],
)
def test_u12_known_bad_pairs_are_warned_of(versions: Versions, count: int) -> None:
    assert len(warnings(versions)) == count


def test_u12_the_report_has_the_warnings(tmp_path: Path) -> None:
    made = install(tmp_path / "site-packages", "B", clang="19.0.0")
    said = inspect(places(made.packages))
    assert said.warnings == (KNOWN_BAD[0].warning,)
    assert "warning: this aiecc writes LLVM IR that Peano before 21 does not read" in said.text()
