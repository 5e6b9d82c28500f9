from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import aiebuild
import pytest
from aiebuild.mlir.__main__ import main
from aiebuild.mlir.facts import Facts
from aiebuild.mlir.parse import parse

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDEN = Path(__file__).parents[1] / "golden" / "mlir"
PARAMETERS = {"arch": "host", "device": "npu1_1col", "design": "d", "mode": "release", "parameters": {"N": 4}}
DESIGN = """\
{% import "lib.mlir.j2" as lib %}
module {
  aie.device({{ device }}) {
    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 2)
    {{ lib.fifo("in", "%shim", "%core", N) }}    {{ lib.fifo("out", "%core", "%shim", N) }}
    {% if N > 4 %}
    func.func private @work(memref<{{ N }}xi32>, memref<{{ N }}xi32>) attributes {link_with = "work.o"}
    {% endif %}
    aie.core(%core) {
      %vi = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<{{ N }}xi32>>
      %a = aie.objectfifo.subview.access %vi[0] : !aie.objectfifosubview<memref<{{ N }}xi32>> -> memref<{{ N }}xi32>
      {% if N > 4 %}
      func.call @work(%a, %a) : (memref<{{ N }}xi32>, memref<{{ N }}xi32>) -> ()
      {% endif %}
      aie.objectfifo.release @in(Consume, 1)
      aie.end
    }
    aie.runtime_sequence @main(%x: memref<{{ N }}xi32>) {
    }
  }
}
"""
LIBRARY = """\
{% macro fifo(name, from, to, n) %}
aie.objectfifo @{{ name }}({{ from }}, {{ "{" }}{{ to }}}, 2 : i32)
      : !aie.objectfifo<memref<{{ n }}xi32>>
{% endmacro %}
"""


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("designs/d", "templates", "build"):
        Path(folder).mkdir(parents=True)
    Path("designs/d/d.mlir.j2").write_text(DESIGN)
    Path("templates/lib.mlir.j2").write_text(LIBRARY)
    use(4)


@pytest.fixture
def errors(capsys: pytest.CaptureFixture[str]) -> Callable[[], str]:
    return lambda: capsys.readouterr().err


def use(n: int) -> None:
    Path("build/P.json").write_text(json.dumps({**PARAMETERS, "parameters": {"N": n}}))


def render(template: str = "designs/d/d.mlir.j2") -> int:
    options = ["--parameters", "build/P.json", "--search", "templates", "-o", "build/d.mlir"]
    return main(["render", template, *options, "--lines", "build/d.mlir.lines", "--depfile", "build/d.mlir.d"])


def normalise(*options: str) -> int:
    outputs = ["-o", "build/d.generic.mlir", "--facts", "build/d.facts.json"]
    return main(["normalise", "build/d.mlir", "--lines", "build/d.mlir.lines", *options, *outputs])


def built() -> list[str]:
    return sorted(path.name for path in Path("build").iterdir())


def test_render_writes_the_text_its_lines_and_what_it_read() -> None:
    assert render() == 0
    assert built() == ["P.json", "d.mlir", "d.mlir.d", "d.mlir.lines"]
    text = Path("build/d.mlir").read_text()
    lines = json.loads(Path("build/d.mlir.lines").read_text())
    assert len(lines) == len(text.splitlines())
    assert lines[0] == ["designs/d/d.mlir.j2", 2]
    assert lines[3] == ["designs/d/d.mlir.j2", 5]
    assert lines[4] == ["designs/d/d.mlir.j2", 6, ["templates/lib.mlir.j2", 2]]
    assert json.loads(Path("build/d.mlir.d").read_text()) == {
        "files": ["designs/d/d.mlir.j2", "templates/lib.mlir.j2"],
        "absent": ["designs/d/lib.mlir.j2"],
    }


def test_render_passes_plain_text_through_byte_for_byte() -> None:
    Path("plain.mlir").write_bytes("a\r\n{{ é }}\n\nb".encode())
    assert render("plain.mlir") == 0
    assert Path("build/d.mlir").read_bytes() == Path("plain.mlir").read_bytes()
    assert json.loads(Path("build/d.mlir.lines").read_text()) == [["plain.mlir", line] for line in (1, 2, 3, 4)]


def test_a_step_that_fails_says_why_and_leaves_no_output(errors: Callable[[], str]) -> None:
    assert render() == 0
    Path("designs/d/d.mlir.j2").write_text("\n{{ NN }}\n")
    assert render() == 1
    assert errors() == "designs/d/d.mlir.j2:2: error: unknown name 'NN'\n  did you mean 'N'?\n"
    assert built() == ["P.json"]


def test_a_parameters_file_that_is_none_is_refused(errors: Callable[[], str]) -> None:
    Path("build/P.json").write_text("[]")
    assert render() == 1
    assert errors() == "build/P.json: error: this is not a parameters file\n"


@pytest.mark.parametrize("argv", [[], ["rendr"], ["render"], ["render", "x", "--param", "y", "-o", "z"]])
def test_wrong_usage_ends_with_two(argv: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(argv)
    assert caught.value.code == 2


def test_normalise_writes_generic_text_with_the_users_lines_and_the_facts() -> None:
    assert render() == 0
    assert normalise("--device", "npu1_1col", "--sequences", "main") == 0
    module = parse(Path("build/d.generic.mlir").read_text(), "build/d.generic.mlir")
    places = {op.get("sym_name"): op.location for op in module.walk() if op.name == "aie.objectfifo"}
    assert places['"in"'] == 'fused<"through">["designs/d/d.mlir.j2":6:0, "templates/lib.mlir.j2":2:0]'
    device = next(op for op in module.walk() if op.name == "aie.device")
    assert device.location is not None
    assert device.location.startswith('"designs/d/d.mlir.j2":3:')
    facts = Facts.from_json(Path("build/d.facts.json").read_text())
    assert facts.device == "npu1_1col"
    assert [sequence.name for sequence in facts.sequences] == ["main"]


def test_normalise_refuses_another_device_or_other_sequences_than_the_contracts(errors: Callable[[], str]) -> None:
    assert render() == 0
    assert normalise("--device", "npu2_1col", "--sequences", "first,second") == 1
    assert errors() == (
        "designs/d/d.mlir.j2:3:3: error: the module is for device 'npu1_1col', the configuration for 'npu2_1col'\n"
        "  a template can write: aie.device({{ device }})\n"
        "designs/d/d.mlir.j2:19:5: error: the runtime sequences of the module are main; those of the contract are "
        "first, second\n"
        "  'sequences' of design.yaml names every aie.runtime_sequence\n"
    )
    assert "d.generic.mlir" not in built()


def test_normalise_checks_link_with_against_what_the_recipe_declares(errors: Callable[[], str]) -> None:
    use(8)
    assert render() == 0
    assert normalise("--declared", "work.o") == 0
    assert normalise("--declared", "wrk.o", "--recipe", "designs/d/SConscript:7") == 1
    message = errors()
    assert message.startswith("designs/d/d.mlir.j2:8:5: error: ")
    assert "work.o" in message
    assert "designs/d/SConscript:7" in message
    assert normalise() == 1
    assert "work.o" in errors()
    assert normalise("--link-anything") == 0


def test_normalise_says_all_that_is_wrong_at_the_templates_lines(errors: Callable[[], str]) -> None:
    use(20000)
    assert render() == 0
    assert normalise() == 1
    message = errors()
    assert message.count("error: ") > 1
    assert all(line.startswith(("designs/d/d.mlir.j2:", "  ")) for line in message.splitlines())


MACROS_WITH_FAULTS = """\
{% macro syntax() %}
%c = arith.constant 0 : index
%d = arith.constant 0 index
{% endmacro %}
{% macro call(name) %}

func.call @{{ name }}() : () -> ()
{% endmacro %}
{% macro fifo(name) %}
aie.objectfifo @{{ name }}(%shim, {%core}, 0 : i32) : !aie.objectfifo<memref<4xi32>>
{% endmacro %}
"""


@pytest.mark.parametrize(
    ("use_of_macro", "inner"), [("lib.syntax()", 3), ("lib.call('nothing')", 7), ("lib.fifo('in')", 10)]
)
def test_what_a_macro_wrote_wrongly_is_said_at_its_use_and_names_the_macro(
    use_of_macro: str, inner: int, errors: Callable[[], str]
) -> None:
    Path("templates/lib.mlir.j2").write_text(MACROS_WITH_FAULTS)
    Path("designs/d/d.mlir.j2").write_text(f"""\
{{% import "lib.mlir.j2" as lib %}}
aie.device({{{{ device }}}}) {{
  %shim = aie.tile(0, 0)
  %core = aie.tile(0, 2)
  func.func @f() {{
    func.return
  }}
  {"{{ " + use_of_macro + " | indent(2) }}" if "fifo" in use_of_macro else ""}
  aie.core(%core) {{
  {"{{ " + use_of_macro + " | indent(2) }}" if "fifo" not in use_of_macro else ""}
    aie.end
  }}
}}
""")
    assert render() == 0
    assert normalise() == 1
    line = 8 if "fifo" in use_of_macro else 10
    first, second, *_ = errors().splitlines()
    assert first.startswith(f"designs/d/d.mlir.j2:{line}: error: ")
    assert second == f"  in templates/lib.mlir.j2:{inner}"


def test_what_is_missing_at_the_end_is_said_at_the_templates_last_line(errors: Callable[[], str]) -> None:
    Path("designs/d/d.mlir.j2").write_text(DESIGN.rstrip().removesuffix("}"))
    assert render() == 0
    assert normalise() == 1
    assert errors().startswith("designs/d/d.mlir.j2:21: error: ")


def test_an_empty_template_is_refused(errors: Callable[[], str]) -> None:
    Path("designs/d/d.mlir.j2").write_text("{# nothing yet #}\n")
    assert render() == 1
    assert errors() == "designs/d/d.mlir.j2: error: the template gives no text\n"
    assert built() == ["P.json"]


def test_lines_that_are_none_are_refused(errors: Callable[[], str]) -> None:
    assert render() == 0
    Path("build/d.mlir.lines").write_text('[["x"]]')
    assert normalise() == 1
    assert errors() == "build/d.mlir.lines: error: this does not say where lines came from\n"


@pytest.mark.parametrize(
    ("argv", "without"),
    [
        (["render", "designs/d/d.mlir.j2", "--parameters", "build/P.json", "--search", "templates", "-o", "x"],
         {"xdsl", "yaml", "jsonschema", "numpy"}),
        (["render", "plain.mlir", "--parameters", "build/P.json", "-o", "x"], {"xdsl", "jinja2", "yaml", "numpy"}),
        (["normalise", "generic.mlir", "-o", "x", "--link-anything"], {"jinja2", "yaml", "xdsl", "numpy"}),
    ],
)  # fmt: skip
def test_each_command_imports_only_what_it_needs(argv: list[str], without: set[str]) -> None:
    Path("plain.mlir").write_text("module {}\n")
    generic = (GOLDEN / "passthrough.generic.mlir").read_text()
    Path("generic.mlir").write_text(
        generic.replace("device = 4 : i32", 'device = "npu1_1col"').replace("device = 5 : i32", 'device = "npu1_1col"')
    )
    program = (
        "import sys\n"
        "from aiebuild.mlir.__main__ import main\n"
        f"assert main({argv!r}) == 0\n"
        f"print(sorted({without!r} & set(sys.modules)))\n"
    )
    environment = {"PYTHONPATH": str(Path(aiebuild.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout == "[]\n"


def test_the_module_is_a_program() -> None:
    environment = {"PYTHONPATH": str(Path(aiebuild.__file__).parents[1])}
    command = [sys.executable, "-m", "aiebuild.mlir", "render", "none.mlir", "--parameters", "build/P.json", "-o", "x"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "error: there is no file none.mlir\n")
