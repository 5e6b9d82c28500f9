"""One table of options and verbs: the command line, the help and the README agree with it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from aiebuild import options
from aiebuild.errors import OptionError

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = REPOSITORY / "site_scons" / "aiebuild"


def test_every_option_and_verb_is_in_the_help() -> None:
    said = options.help_text()
    for option in options.OPTIONS:
        assert f"  {option.name}=" in said
        assert option.help in said
    for verb in options.VERBS:
        assert f"  {verb.name} " in said
    assert "--no-progress" in said


GUIDES = (REPOSITORY / "docs/guides/editors.md", REPOSITORY / "docs/guides/seeing-a-build.md", REPOSITORY / "README.md")


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_commands_of_the_guides_are_understood(guide: Path) -> None:
    found = re.findall(r"(?:^|`|\$ )(?:scons|aiebuild) ([^`#|\n]+)", guide.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(found) >= 3
    for command in found:
        words = [word for word in command.split() if not word.startswith("-")]
        if words[:1] in [["new"], *([verb.name] for verb in options.COMMANDS)]:
            continue
        pairs = [(name, value) for name, equals, value in (word.partition("=") for word in words) if equals]
        request = options.understand(pairs, [word for word in words if "=" not in word])
        assert not request.parameters or request.get("design"), command


def test_every_choice_that_is_a_default_is_a_choice() -> None:
    for option in options.OPTIONS:
        assert not option.choices or not option.default or option.default in option.choices


def test_what_is_no_option_is_a_parameter() -> None:
    request = options.understand([("design", "x"), ("M", "4")], ["check"])
    assert request.get("design") == "x"
    assert request.get("arch") == "host"
    assert request.parameters == {"M": "4"}
    assert request.verbs == ("check",)


def test_several_values_are_in_order_and_none_twice() -> None:
    request = options.understand([("arch", "aie2p,host,aie2p")], [])
    assert request.several("arch") == ("aie2p", "host")


def test_a_file_is_a_target_and_not_a_verb() -> None:
    assert options.understand([], ["build/host/objects/x.o"]).targets == ("build/host/objects/x.o",)


def test_the_nearest_verb_is_named() -> None:
    with pytest.raises(OptionError, match="did you mean 'describe'"):
        options.understand([], ["descibe"])


def test_help_is_an_option() -> None:
    with pytest.raises(OptionError, match=r"unknown verb 'help'\n  scons -h"):
        options.understand([], ["help"])


@pytest.mark.parametrize(
    "words", ["list build", "doctor list", "graph explain", "clean build", "build list check", "watch package"]
)
def test_of_two_verbs_none_is_forgotten(words: str) -> None:
    with pytest.raises(OptionError, match=r"(\w+) does not go with (\w+)\n  one command after the other") as caught:
        options.understand([], words.split())
    assert set(re.findall(r"\w+", str(caught.value))) >= set(words.split()) - {"check"}


@pytest.mark.parametrize(
    "words", ["list describe", "package install check", "build check", "watch check", "doctor doctor", "build build"]
)
def test_verbs_that_go_together_are_all_done(words: str) -> None:
    assert options.understand([], words.split()).verbs == tuple(words.split())


def test_only_the_scons_folder_imports_scons() -> None:
    for path in PACKAGE.rglob("*.py"):
        if path.is_relative_to(PACKAGE / "scons"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not {name for name in names if name.split(".")[0] == "SCons"}, path


def test_only_one_module_reads_the_environment() -> None:
    reading = {path.name for path in PACKAGE.rglob("*.py") if "os.environ" in path.read_text(encoding="utf-8")}
    assert reading <= {"environment.py"}


def test_the_tool_imports_nothing_that_a_null_build_does_not_need() -> None:
    """Slow imports happen inside steps: a start of SCons with our tool loads none of them."""
    slow = ["xdsl", "jinja2", "yaml", "jsonschema", "numpy", "ml_dtypes", "elftools"]
    program = f"import aiebuild.scons.project, sys; print([name for name in {slow} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    )
    assert done.stdout.strip() == "[]"


def test_the_command_gives_answers_to_programs() -> None:
    command = [sys.executable, "-c", "from aiebuild.cli import main; raise SystemExit(main())"]
    environment = {"PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [*command, "list", "--json"], capture_output=True, text=True, check=True, cwd=REPOSITORY, env=environment
    )
    assert '"name": "matmul"' in done.stdout
    wrong = subprocess.run(
        [*command, "lst"], capture_output=True, text=True, check=False, cwd=REPOSITORY, env=environment
    )
    assert wrong.returncode == 2
    assert "did you mean 'list'?" in wrong.stderr
