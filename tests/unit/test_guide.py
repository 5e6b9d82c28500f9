"""The guide on writing a design: what it lists is what there is; what it shows is run with the other documents."""

from __future__ import annotations

import json
import re

from projects import PACKAGE, REPOSITORY

GUIDE = (REPOSITORY / "docs" / "guides" / "writing-a-design.md").read_text(encoding="utf-8")
MACROS = "templates/aie.mlir.j2"


def tables() -> set[str]:
    """Return what stands in the first column of the guide's tables."""
    return set(re.findall(r"^\| `([^`]+)`", GUIDE, re.MULTILINE))


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
