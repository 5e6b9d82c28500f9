"""The guide on writing a design: what it shows works as it stands, and what it lists is what there is."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from projects import PACKAGE, REPOSITORY

if TYPE_CHECKING:
    from projects import Project

GUIDE = (REPOSITORY / "docs" / "guides" / "writing-a-design.md").read_text(encoding="utf-8")
MACROS = "templates/aie.mlir.j2"


def files() -> dict[str, str]:
    """Return the files that the guide shows, by the name before each."""
    return dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL))


def tables() -> set[str]:
    """Return what stands in the first column of the guide's tables."""
    return set(re.findall(r"^\| `([^`]+)`", GUIDE, re.MULTILINE))


def with_the_design(project: Project) -> Project:
    for name, text in files().items():
        project.write(name, text)
    project.write(MACROS, (REPOSITORY / MACROS).read_text(encoding="utf-8"))
    return project


def test_the_design_of_the_guide_is_built_and_run(project: Project) -> None:
    built = with_the_design(project).build("design=plus_one")
    said = re.search(r"^It ends with `(.*)`\.", GUIDE, re.MULTILINE)
    assert said is not None
    assert said[1] in built.out
    assert "Y agrees with the reference" in project.build("design=plus_one", "n=128", "line=32").out


def test_the_guide_shows_each_file_of_a_design() -> None:
    assert sorted(files()) == [
        "designs/plus_one/SConscript",
        "designs/plus_one/check.py",
        "designs/plus_one/design.yaml",
        "designs/plus_one/plus_one.mlir.j2",
        "kernels/plus_one.cc",
    ]


def test_the_error_that_the_guide_shows_is_the_one_that_is_said(project: Project) -> None:
    with_the_design(project)
    template = "designs/plus_one/plus_one.mlir.j2"
    project.write(template, project.read(template).replace('acquire("x", "in"', 'acquire("x", "inn"'))
    said = re.search(r"^(designs/plus_one/.*: error: .*\n(?:  .*\n)+)", GUIDE, re.MULTILINE)
    assert said is not None
    assert said[1] in project.scons("design=plus_one").err


def test_the_guide_lists_every_macro_with_its_arguments() -> None:
    macros = re.findall(r"\{% macro (\w+)(\(.*?\)) %\}", (REPOSITORY / MACROS).read_text(encoding="utf-8"))
    assert len(macros) > 4
    listed = {name.replace("bounds(name=count, ...)", "bounds()") for name in tables()}
    assert {f"{name}{arguments}" for name, arguments in macros} <= listed


def test_the_guide_lists_every_key_of_a_contract_and_of_its_generator() -> None:
    schema = json.loads((PACKAGE / "aiebuild" / "design.schema.json").read_text(encoding="utf-8"))
    keys = {*schema["properties"], *schema["properties"]["generator"]["properties"]}
    assert keys <= tables()
    parameter = schema["$defs"]["parameter"]["properties"]
    row = next(line for line in GUIDE.splitlines() if line.startswith("| `parameters` |"))
    assert [key for key in parameter if key not in row] == []
