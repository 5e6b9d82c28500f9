from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import aiebuild
import pytest
from aiebuild.errors import MlirError
from aiebuild.mlir.lines import Line, from_json, to_json
from aiebuild.mlir.template import Rendered, render
from aiebuild.parameters import Parameters
from hypothesis import assume, given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from aiebuild.expression_tree import Scalar

FILE = "designs/d/d.mlir.j2"
VALUES: dict[str, Scalar] = {"M": 4, "dtype_in": "i16", "flag": True, "scale": 1e-05}


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(file: str, text: str) -> Path:
    path = Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def rendered(text: str, **others: str) -> Rendered:
    """Render a template; `others` are shared templates, by the stem of their name."""
    for name, content in others.items():
        write(f"templates/{name}.mlir.j2", content)
    p = Parameters(VALUES, arch="host", device="npu1_1col", design="d", mode="release")
    return render(write(FILE, text), p, [Path("templates")])


def refused(text: str, **others: str) -> str:
    with pytest.raises(MlirError) as caught:
        rendered(text, **others)
    return str(caught.value)


def mapped(result: Rendered) -> list[tuple[str, int, str]]:
    """Return short file name, line and text of each line; for text of a macro also the macro's: `d 3 lib`, 2."""
    texts = result.text.split("\n")
    return [(*_place(line), text) for line, text in zip(result.lines, texts, strict=False)]


def _place(line: Line) -> tuple[str, int]:
    file = Path(line.file).name.split(".")[0]
    if line.inner is None:
        return file, line.line
    return f"{file} {line.line} {Path(line.inner[0]).name.split('.')[0]}", line.inner[1]


def test_parameters_are_names_and_so_is_what_is_built() -> None:
    text = "{{ M }} {{ p.M }} {{ p['dtype_in'] }} {{ arch }} {{ device }} {{ design }} {{ p.arch }}"
    assert rendered(text).text == "4 4 i16 host npu1_1col d host"


def test_values_are_written_as_mlir_has_them() -> None:
    text = "{{ flag }} {{ not flag }} {{ scale }} {{ 2.5 }} {{ 1e16 }} {{ 1.5e300 }} {{ -M }} {{ M / 2 }}"
    assert rendered(text).text == "true false 1.0e-05 2.5 1.0e+16 1.5e+300 -4 2.0"


def test_lines_of_tags_and_comments_leave_nothing_behind() -> None:
    text = "module {\n  {# why #}\n  {% if flag %}\n    op\n  {% endif %}\n}\n"
    assert rendered(text).text == "module {\n    op\n}\n"


def test_each_line_of_a_plain_template_is_its_own_line() -> None:
    result = rendered("a\n\nb {{ M }}\n  c\n")
    assert mapped(result) == [("d", 1, "a"), ("d", 2, ""), ("d", 3, "b 4"), ("d", 4, "  c")]


def test_lines_of_loops_and_conditions_are_those_of_the_template() -> None:
    text = (
        "{% for i in range(2) %}\n"
        "{{ i }} begins\n"
        "  {% if i == 1 %}\n"
        "{{ i }} only\n"
        "  {% else %}\n"
        "other\n"
        "  {% endif %}\n"
        "{% endfor %}\n"
        "{{ M }} after\n"
    )
    assert mapped(rendered(text)) == [
        ("d", 2, "0 begins"),
        ("d", 6, "other"),
        ("d", 2, "1 begins"),
        ("d", 4, "1 only"),
        ("d", 9, "4 after"),
    ]


MACROS = "{% macro pair(n) %}\none {{ n }}\n{{ n }} two\n{% endmacro %}\n"


def test_lines_of_a_macro_are_that_of_the_call_and_that_of_the_macro() -> None:
    text = '{% import "lib.mlir.j2" as lib %}\na\n  {{ lib.pair(7) }}b\n{{ lib.pair(8) | indent(2) }}c\n'
    assert mapped(rendered(text, lib=MACROS)) == [
        ("d", 2, "a"),
        ("d 3 lib", 2, "  one 7"),
        ("d 3 lib", 3, "7 two"),
        ("d", 3, "b"),
        ("d 4 lib", 2, "one 8"),
        ("d 4 lib", 3, "  8 two"),
        ("d", 4, "c"),
    ]


def test_blanks_before_a_macro_do_not_take_its_first_line() -> None:
    text = '{% import "lib.mlir.j2" as lib %}\n  {{ " " }}{{ lib.pair(7) }}\n{{ M }} {{ lib.pair(8) }}'
    assert mapped(rendered(text, lib=MACROS)) == [
        ("d 2 lib", 2, "   one 7"),
        ("d 2 lib", 3, "7 two"),
        ("d", 2, ""),
        ("d", 3, "4 one 8"),
        ("d 3 lib", 3, "8 two"),
    ]


def test_lines_of_an_include_are_that_of_the_tag_and_that_of_the_included_file() -> None:
    assert mapped(rendered('a\n{% include "lib.mlir.j2" %}\nb\n', lib="x {{ M }}\n{{ M }} y\n")) == [
        ("d", 1, "a"),
        ("d 2 lib", 1, "x 4"),
        ("d 2 lib", 2, "4 y"),
        ("d", 3, "b"),
    ]


def test_lines_of_call_blocks_set_blocks_and_inheritance_are_kept() -> None:
    base = "first\n{% block body %}\nnone\n{% endblock %}\nlast\n"
    text = (
        '{% extends "base.mlir.j2" %}\n'
        "{% macro wrap() %}\n"
        "begin\n"
        "{{ caller() }}end\n"
        "{% endmacro %}\n"
        "{% block body %}\n"
        "{% set kept %}\n"
        "kept\n"
        "{% endset %}\n"
        "{% call wrap() %}\n"
        "inside\n"
        "{% endcall %}\n"
        "{{ kept }}{% filter upper %}\n"
        "loud\n"
        "{% endfilter %}\n"
        "{% endblock %}\n"
    )
    assert mapped(rendered(text, base=base)) == [
        ("d 1 base", 1, "first"),
        ("d 10 d", 3, "begin"),
        ("d", 11, "inside"),
        ("d 10 d", 4, "end"),
        ("d", 8, "kept"),
        ("d", 13, "LOUD"),
        ("d 1 base", 5, "last"),
    ]


def test_what_a_filter_made_anew_counts_as_the_line_that_called_it() -> None:
    text = '{% import "lib.mlir.j2" as lib %}\n{{ lib.pair(7) | upper }}\n'
    assert mapped(rendered(text, lib=MACROS)) == [("d", 2, "ONE 7"), ("d", 2, "7 TWO"), ("d", 2, "")]


def test_a_value_of_several_lines_counts_as_one_line_of_the_template() -> None:
    assert mapped(rendered("a\n{{ 'x\\ny' }} z\nb")) == [
        ("d", 1, "a"),
        ("d", 2, "x"),
        ("d", 2, "y z"),
        ("d", 3, "b"),
    ]


def test_the_outermost_call_counts_however_deep_the_macro_is() -> None:
    lib = (
        '{% import "deep.mlir.j2" as deep %}\n{% macro twice(n) %}\n{{ deep.one(n) }}{{ deep.one(n) }}{% endmacro %}\n'
    )
    text = (
        '{% import "lib.mlir.j2" as lib %}\n{% for n in [7, 8] %}\n{{ lib.twice(n) }}{% endfor %}\n{{ lib.twice(9) }}'
    )
    deep = "{% macro one(n) %}\nop {{ n }}\n{% endmacro %}"
    assert mapped(rendered(text, lib=lib, deep=deep)) == [
        ("d 3 deep", 2, "op 7"),
        ("d 3 deep", 2, "op 7"),
        ("d 3 deep", 2, "op 8"),
        ("d 3 deep", 2, "op 8"),
        ("d 4 deep", 2, "op 9"),
        ("d 4 deep", 2, "op 9"),
    ]


def test_a_macro_of_the_design_itself_counts_as_its_call() -> None:
    text = f"{MACROS}{{{{ pair(7) }}}}{{% set kept = pair(8) %}}\n{{{{ kept }}}}\n"
    assert mapped(rendered(text))[:4] == [
        ("d 5 d", 2, "one 7"),
        ("d 5 d", 3, "7 two"),
        ("d 5 d", 2, "one 8"),
        ("d 5 d", 3, "8 two"),
    ]


def test_what_a_call_of_a_macro_in_an_include_gave_counts_as_the_include() -> None:
    lib = "{% macro f() %}\nx\n{% endmacro %}\n\n{{ f() }}"
    assert mapped(rendered('a\n{% include "lib.mlir.j2" %}\n', lib=lib))[:3] == [
        ("d", 1, "a"),
        ("d 2 lib", 4, ""),
        ("d 2 lib", 2, "x"),
    ]


def places(result: Rendered, column: int) -> list[str]:
    return [str(line.place(column)) for line in result.lines]


def test_a_column_is_said_as_far_as_it_is_that_of_the_template() -> None:
    text = '{% import "lib.mlir.j2" as lib %}\nabcdefgh\nab {{ M }} fgh\n{{ lib.pair(7) }}'
    result = rendered(text, lib=MACROS)
    assert places(result, 4) == [f"{FILE}:2:4", f"{FILE}:3:4", f"{FILE}:4", f"{FILE}:4"]
    assert places(result, 5) == [f"{FILE}:2:5", f"{FILE}:3", f"{FILE}:4", f"{FILE}:4"]
    assert [str(line.place(1).inner) for line in result.lines[2:]] == [
        "templates/lib.mlir.j2:2",
        "templates/lib.mlir.j2:3",
    ]


def test_the_lines_are_the_same_after_they_were_written_to_a_file() -> None:
    lines = rendered('{% import "lib.mlir.j2" as lib %}\na\nb {{ M }}\n{{ lib.pair(7) }}', lib=MACROS).lines
    assert to_json(lines) == (
        f'[["{FILE}", 2], ["{FILE}", 3, null, 2], ["{FILE}", 4, ["templates/lib.mlir.j2", 2]], '
        f'["{FILE}", 4, ["templates/lib.mlir.j2", 3]]]\n'
    )
    assert tuple(from_json(to_json(lines))) == lines


@pytest.mark.parametrize("text", ["", "\n \n", "{# only a comment #}", "{% if false %}a{% endif %}\n"])
def test_a_template_that_gives_no_text_is_refused(text: str) -> None:
    assert refused(text) == f"{FILE}: error: the template gives no text"


def test_an_empty_file_is_refused() -> None:
    with pytest.raises(MlirError) as caught:
        render(write("x.mlir", "\n"), Parameters({}))
    assert str(caught.value) == "x.mlir: error: the file is empty"


@pytest.mark.parametrize(("text", "count"), [("a", 1), ("a\n", 1), ("a\n\n", 2), ("a{% if false %}b\n{% endif %}", 1)])
def test_there_is_one_place_for_each_line(text: str, count: int) -> None:
    assert len(rendered(text).lines) == count


def blocks() -> st.SearchStrategy[list[str]]:
    """Return lines of a template; a line that shows anything is `@`, to be numbered."""
    line = st.sampled_from([["@"], ["  @"], ["{{ M }} @"], ["{# c #}"], ["{# c", "c #}"], ["@ {{ [M,", "M] }}"], [""]])
    return st.recursive(line, _larger, max_leaves=8)


def _larger(inner: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    body = st.lists(inner, min_size=1, max_size=3).map(lambda parts: [line for part in parts for line in part])
    wraps = [
        ("{% for i in range(2) %}", "{% endfor %}"),
        ("  {% if flag %}", "  {% endif %}"),
        ("{%- if flag -%}", "{%- endif -%}"),
        ("{% if not flag %}", "{% endif %}"),
        ("{% set s %}", "{% endset %}{{ s }}"),
        ("{% macro f() %}", "{% endmacro %}{{ f() }}"),
        ("{% filter indent %}", "{% endfilter %}"),
        ("{% with a = 1 %}", "{% endwith %}"),
    ]
    return st.builds(lambda wrap, lines: [wrap[0], *lines, wrap[1]], st.sampled_from(wraps), body)


@given(blocks())
def test_every_line_that_shows_something_is_found_in_the_template(lines: list[str]) -> None:
    text = "\n".join(line.replace("@", f"@{number}@") for number, line in enumerate(lines, 1)) + "\n"
    assume("@" in text)
    try:
        result = rendered(text)
    except MlirError as error:
        if "gives no text" not in error.message:
            raise
        return
    for line, shown in zip(result.lines, result.text.split("\n"), strict=False):
        numbers = [int(number) for number in shown.split("@")[1::2]]
        assert not numbers or (line.inner[1] if line.inner else line.line) == numbers[0]
    assert len(result.lines) == result.text.count("\n") + (not result.text.endswith("\n") and result.text != "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n{{ dtype }}", f"{FILE}:2: error: unknown name 'dtype'\n  did you mean 'dtype_in'?"),
        ("\n{% if flg %}{% endif %}", f"{FILE}:2: error: unknown name 'flg'\n  did you mean 'flag'?"),
        ("{{ p.dtype }}", f"{FILE}:1: error: no parameter 'dtype'\n  did you mean 'dtype_in'?"),
        (
            "{% macro pair() %}{% endmacro %}\n\n{{ par() }}",
            f"{FILE}:3: error: unknown name 'par'\n  did you mean 'pair'?",
        ),
        (
            '{% import "lib.mlir.j2" as lib %}\n{{ lib.par() }}',
            f"{FILE}:2: error: lib.mlir.j2 has no macro 'par'\n  did you mean 'pair'?",
        ),
        ("{{ M.x }}", f"{FILE}:1: error: a value of type int has no 'x'"),
        ("{{ {'size': 1}.sizes }}", f"{FILE}:1: error: a value of type dict has no 'sizes'\n  did you mean 'size'?"),
        ("{{ M | idnent }}", f"{FILE}:1: error: No filter named 'idnent'\n  did you mean 'indent'?"),
        (
            "\n{% include 'lb.mlir.j2' %}",
            f"{FILE}:2: error: there is no template 'lb.mlir.j2'\n  did you mean 'lib.mlir.j2'?",
        ),
        (
            "{% include ['x', 'y'] %}",
            f"{FILE}:1: error: there is no template 'x' or 'y'\n  templates are searched for in: designs/d, templates",
        ),
        (
            "{% include '../x' %}",
            (
                f"{FILE}:1: error: the template '../x' is not named from a folder of templates\n"
                "  templates are searched for in: designs/d, templates"
            ),
        ),
        ("a\n\n{{ raise('M is ' ~ M) }}", f"{FILE}:3: error: M is 4"),
        ("\n{{ M // 0 }}", f"{FILE}:2: error: ZeroDivisionError: integer division or modulo by zero"),
        ("{{ M + 'a' }}", f"{FILE}:1: error: TypeError: unsupported operand type(s) for +: 'int' and 'str'"),
        ("{{ none }}", f"{FILE}:1: error: the expression gives none, which is no text"),
        ("a\n{% for %}", f"{FILE}:2: error: Expected an expression, got 'end of statement block'"),
        (
            "{{ lipsum() }}",
            f"{FILE}:1: error: unknown name 'lipsum'\n  one of: M, arch, design, device, dtype_in, flag, p, scale",
        ),
        (
            f"{{% include '{Path(FILE).name}' %}}",
            f"{FILE}:1: error: the templates include or call each other without end",
        ),
    ],
)
def test_what_is_wrong_is_said_with_the_templates_line(text: str, expected: str) -> None:
    assert refused(text, lib=MACROS) == expected


def test_what_is_wrong_in_a_shared_template_is_said_with_its_line_and_the_users() -> None:
    text = 'a\n{% import "lib.mlir.j2" as lib %}\n\n{{ lib.f() }}\n'
    assert refused(text, lib="{% macro f() %}\nx\n{{ 1 // 0 }}\n{% endmacro %}") == (
        f"templates/lib.mlir.j2:3: error: ZeroDivisionError: integer division or modulo by zero\n  used at {FILE}:4"
    )
    assert refused(text, lib="{% macro f() %}\n{% fi %}").startswith("templates/lib.mlir.j2:2: error: ")


def test_a_macro_that_misses_a_parameter_says_how_to_get_it() -> None:
    text = '{% import "lib.mlir.j2" as lib %}\n{{ lib.f() }}'
    assert refused(text, lib="{% macro f() %}\n{{ M }}\n{% endmacro %}") == (
        "templates/lib.mlir.j2:2: error: unknown name 'M'\n"
        "  a macro does not see parameters: pass it M, or import the macro 'with context'"
    )
    with_context = text.replace("as lib", "as lib with context")
    assert rendered(with_context, lib="{% macro f() %}\n{{ M }}\n{% endmacro %}").text == "4\n"


def test_files_that_cannot_be_read_are_refused() -> None:
    with pytest.raises(MlirError, match=r"there is no file designs/d/none\.mlir\.j2"):
        render(Path("designs/d/none.mlir.j2"), Parameters({}))
    write(FILE, "")
    Path(FILE).write_bytes(b"a\n\xff")
    with pytest.raises(MlirError, match=r"designs/d/d\.mlir\.j2 is not UTF-8 text"):
        render(Path(FILE), Parameters({}))
    Path("x.mlir").write_bytes(b"a\n\xff")
    with pytest.raises(MlirError) as caught:
        render(Path("x.mlir"), Parameters({}))
    assert str(caught.value) == "x.mlir:2: error: the file is not UTF-8 text"


def test_what_was_read_and_what_would_hide_it_are_known() -> None:
    text = '{% import "lib.mlir.j2" as lib %}{% include ["no.mlir.j2", "inc.mlir.j2"] %}{% include "own.mlir.j2" %}'
    write("designs/d/own.mlir.j2", "")
    result = rendered(text, lib="", inc="x", unused="")
    assert result.read == (FILE, "designs/d/own.mlir.j2", "templates/inc.mlir.j2", "templates/lib.mlir.j2")
    assert result.absent == (
        "designs/d/inc.mlir.j2",
        "designs/d/lib.mlir.j2",
        "designs/d/no.mlir.j2",
        "templates/no.mlir.j2",
    )


def test_a_template_of_the_designs_own_folder_hides_a_shared_one() -> None:
    write("designs/d/lib.mlir.j2", "own")
    assert rendered('{% include "lib.mlir.j2" %}', lib="shared").text == "own"


def test_a_template_outside_the_current_folder_has_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(FILE, "a").resolve()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert render(path, Parameters({})).lines == (Line(os.fspath(path), 1),)


def test_plain_text_is_passed_through_as_it_is() -> None:
    text = "{{ M }}\r\n\n{% x %} é"
    result = render(write("x.mlir", text), Parameters({}))
    assert result.text == text
    assert result.lines == (Line("x.mlir", 1), Line("x.mlir", 2), Line("x.mlir", 3))
    assert (result.read, result.absent) == (("x.mlir",), ())


def test_the_same_parameters_give_the_same_text_in_every_process() -> None:
    write(FILE, "{% for k in {'b': 1, 'a': 2} %}{{ k }}{% endfor %}{{ p.as_dict() }}")
    program = (
        "from pathlib import Path\n"
        "from aiebuild.mlir.template import render\n"
        "from aiebuild.parameters import Parameters\n"
        f"print(render(Path('{FILE}'), Parameters({VALUES!r})).text)\n"
    )
    package = str(Path(aiebuild.__file__).parents[1])
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONPATH": package, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1
    assert texts.pop().startswith(b"ba")


def test_values_in_braces_are_text_and_not_tags(tmp_path: Path) -> None:
    text = "aie.objectfifo @in(%shim, {%core}, 2 : i32)\n{%if M%}yes {%endif%}\n{% raw %}{%core}{% endraw %}\n"
    template = tmp_path / "x.mlir.j2"
    template.write_text(text)
    parameters = Parameters({"M": 1}, arch="host", device="npu1", design="x", mode="release")
    rendered = render(template, parameters, [])
    assert rendered.text == "aie.objectfifo @in(%shim, {%core}, 2 : i32)\nyes {%core}"
    assert [line.line for line in rendered.lines] == [1, 2]
    assert str(rendered.lines[0].place(30)).endswith(":1:30")
