"""Completion: what may follow in a command line, and real shells that ask for it."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from aiebuild import cli, completion, options
from aiebuild.errors import OptionError

PACKAGE = Path(completion.__file__).resolve().parents[1]
CONTRACT = """\
description: {name} of the tests
devices: {devices}
parameters:
  M: {{type: int, default: 64, help: rows}}
  kind: {{type: choice, choices: [i8, bf16], default: i8, help: element type}}
  fast: {{type: bool, default: true, help: quick}}
variants:
  small: {{M: 8}}
"""
LIMIT = 60.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with two designs, and one whose contract is wrong."""
    root = tmp_path / "a project"
    for name, devices in (("one", "[npu1_1col]"), ("other", "[npu2_1col, npu1_1col]")):
        (root / "designs" / name).mkdir(parents=True)
        (root / "designs" / name / "design.yaml").write_text(CONTRACT.format(name=name, devices=devices))
    (root / "designs/wrong").mkdir()
    (root / "designs/wrong/design.yaml").write_text("devices: [")
    (root / "SConstruct").write_text("")
    (root / "kernels").mkdir()
    (root / "kernels/my file.cc").write_text("")
    return root


def words(root: Path, line: str, command: str = "scons") -> list[str]:
    """Return what the last word of a line may become."""
    *before, current = line.split(" ")
    return [each.word for each in completion.complete(command, current, before, root)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("des", ["describe", "design="]),
        ("check gra", []),
        ("design=", ["design=one", "design=other", "design=wrong"]),
        ("design=o", ["design=one", "design=other"]),
        ("design=one,", ["design=one,other", "design=one,wrong"]),
        ("design=one,ot", ["design=one,other"]),
        ("arch=", ["arch=host", "arch=aie2", "arch=aie2p"]),
        ("design=one arch=", ["arch=host", "arch=aie2"]),
        ("arch=aie2,", ["arch=aie2,host", "arch=aie2,aie2p"]),
        ("device=", ["device=npu1_1col", "device=npu2_1col"]),
        ("design=other arch=aie2p device=", ["device=npu2_1col"]),
        ("variant=", ["variant=small"]),
        ("mode=d", ["mode=debug"]),
        ("kind=", []),
        ("design=one k", ["kind="]),
        ("design=one kind=", ["kind=i8", "kind=bf16"]),
        ("design=one fast=f", ["fast=false"]),
        ("design=one M=", ["M=64"]),
        ("design=one M=8 M", []),
        ("design=nothing kind=", []),
        ("graph format=", [f"format={form}" for form in options.GRAPHS]),
        ("package form", ["format="]),
        ("build form", []),
        ("json=", [completion.FILES]),
        ("--no", ["--no-progress"]),
        ("nonsense=", []),
    ],
)
def test_designs_parameters_and_choices_are_known(root: Path, line: str, expected: list[str]) -> None:
    assert words(root, line) == expected


def test_every_option_and_verb_may_follow(root: Path) -> None:
    found = words(root, "")
    of_all = {f"{option.name}=" for option in options.OPTIONS if not option.verbs}
    assert of_all | {verb.name for verb in options.VERBS} == set(found)
    assert set(found) < set(words(root, "", "/usr/bin/aiebuild"))


def test_another_project_is_left_to_the_shell(tmp_path: Path) -> None:
    assert words(tmp_path, "") == []
    (tmp_path / "SConstruct").write_text("")
    assert words(tmp_path, "des") == []
    assert words(tmp_path, "completion z", "aiebuild") == ["zsh"]
    assert words(tmp_path, "verify x", "aiebuild") == [completion.FILES]


def test_a_word_has_its_meaning_beside_it(root: Path) -> None:
    (found,) = completion.complete("scons", "design=on", [], root)
    assert str(found) == "design=one\tone of the tests"


def test_no_word_is_a_command_of_the_shell_and_no_help_one_of_the_terminal(root: Path) -> None:
    for name in ("$(touch x)", "a b", "`x`", "a;b"):
        shutil.copytree(root / "designs/one", root / "designs" / name)
    assert words(root, "design=") == ["design=one", "design=other", "design=wrong"]
    contract = root / "designs/one/design.yaml"
    contract.write_text(contract.read_text().replace("one of the tests", '"\\e]0;title\\a red \\n line"'))
    (found,) = completion.complete("scons", "design=on", [], root)
    assert str(found) == "design=one\t]0;title red line"


def test_many_designs_are_named_without_reading_them(root: Path) -> None:
    for number in range(completion.FEW):
        (root / f"designs/n{number}").mkdir()
        (root / f"designs/n{number}/design.yaml").write_text("wrong: [")
    assert len(words(root, "design=n")) == completion.FEW
    assert words(root, "arch=") == ["arch=host", "arch=aie2", "arch=aie2p"]
    assert words(root, "design=one arch=") == ["arch=host", "arch=aie2"]


def test_a_shell_without_a_script_is_refused() -> None:
    with pytest.raises(OptionError, match="did you mean 'fish'"):
        completion.script("fsh")
    with pytest.raises(OptionError, match="completion needs the name of a shell\n  choices: bash, zsh, fish"):
        completion.script("")
    with pytest.raises(OptionError, match=r"the shell 'tcl'\n  choices: bash, zsh, fish"):
        completion.script("tcl")


def command(tmp_path: Path) -> dict[str, str]:
    """Return an environment with a command `aiebuild` that is this one."""
    program = tmp_path / "bin/aiebuild"
    program.parent.mkdir()
    call = "import sys; from aiebuild.cli import main; sys.exit(main())"
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{call}' \"$@\"\n")
    program.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    path = f"{program.parent}:{os.environ['PATH']}"
    own = {"PATH": path, "PYTHONPATH": str(PACKAGE), "HOME": str(home)}
    return {**own, "TERM": "dumb", "PS1": "$ ", "LC_ALL": "C.UTF-8"}


def asked(program: str, *arguments: str, environment: dict[str, str], cwd: Path) -> str:
    """Return what a program prints."""
    done = subprocess.run(
        [program, *arguments], env=environment, cwd=cwd, capture_output=True, text=True, check=True, timeout=LIMIT
    )
    return done.stdout


def test_one_shell_at_a_time(root: Path) -> None:
    with pytest.raises(OptionError, match="'zsh' means nothing for completion"):
        cli.completion(["completion", "bash", "zsh"], root)


def test_the_command_prints_scripts_and_answers_without_scons(root: Path, tmp_path: Path) -> None:
    environment = command(tmp_path)
    for shell in completion.SHELLS:
        assert "--complete" in asked("aiebuild", "completion", shell, environment=environment, cwd=tmp_path)
    assert "mode=\t" in asked("aiebuild", "--complete", environment=environment, cwd=root)
    program = (
        "import sys; from aiebuild import cli; cli.main(); print([name for name in sys.modules if name == 'SCons'])"
    )
    said = asked(sys.executable, "-c", program, "--complete", "scons", "mo", environment=environment, cwd=root)
    assert said.splitlines()[-1] == "[]"
    assert said.startswith("mode=\t")


class Shell:
    """An interactive shell on a terminal, which is typed into."""

    def __init__(self, argv: list[str], environment: dict[str, str], cwd: Path) -> None:
        self.terminal, theirs = pty.openpty()
        self.child = subprocess.Popen(
            argv, env=environment, cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        self.said = ""

    def type(self, text: str) -> None:
        """Type something."""
        os.write(self.terminal, text.encode())

    def expect(self, text: str) -> None:
        """Wait until something is on the terminal."""
        until = time.monotonic() + LIMIT
        while text not in self.said:
            assert time.monotonic() < until, f"no {text!r} in {self.said!r}"
            if select.select([self.terminal], [], [], 0.2)[0]:
                self.said += os.read(self.terminal, 4096).decode("utf-8", "replace")

    def end(self) -> None:
        """End the shell."""
        self.child.kill()
        self.child.wait()
        os.close(self.terminal)


TYPED = [
    ("scons design=on\t\n", "<design=one>"),
    ("scons design=one kin\tbf\t\n", "<design=one><kind=bf16>"),
    ("scons gra\tdesign=oth\t\n", "<graph><design=other>"),
    ("scons arch=aie2,ho\t\n", "<arch=aie2,host>"),
    ("scons json=kern\tmy\t\n", "<json=kernels/my file.cc>"),
    ("aiebuild completion zs\t\n", "<completion><zsh>"),
]
SHOW = 'scons() { printf \'<%s>\' "$@"; echo; }; aiebuild() { scons "$@"; }; '
START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], f"source <(aiebuild completion bash); {SHOW}echo rea''dy\n"),
    "zsh": (
        ["zsh", "-f", "-i"],
        f"autoload -Uz compinit; compinit -u -D; source <(aiebuild completion zsh); {SHOW}echo rea''dy\n",
    ),
}


@pytest.mark.parametrize("name", sorted(START))
def test_an_interactive_shell_completes_what_is_typed(name: str, root: Path, tmp_path: Path) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed: its completion was not tried")
    argv, start = START[name]
    shell = Shell(argv, command(tmp_path), root)
    try:
        shell.type(start)
        shell.expect("ready")
        for typed, expected in TYPED:
            shell.said = ""
            shell.type(typed)
            shell.expect(expected)
    finally:
        shell.end()


def test_fish_completes_what_is_typed(root: Path, tmp_path: Path) -> None:
    fish = shutil.which("fish")
    if fish is None:
        pytest.skip("fish is not installed: its completion was not tried")
    environment = command(tmp_path)

    def offered(line: str) -> list[str]:
        program = f"aiebuild completion fish | source; complete -C '{line}'"
        return asked(fish, "--no-config", "-c", program, environment=environment, cwd=root).splitlines()

    assert offered("scons design=o") == ["design=one\tone of the tests", "design=other\tother of the tests"]
    assert offered("scons design=one kind=") == ["kind=bf16", "kind=i8\tthe default"]
    assert offered("scons json=ker") == ["json=kernels/"]
    assert offered("aiebuild completion zs") == ["zsh"]
