"""Files of VS Code are merged in their text: what is the user's stays, byte for byte; what is ours is replaced."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any

import pytest
from aiebuild.contract import Contract
from aiebuild.errors import AieBuildError
from aiebuild.ide import database, files, jsonc, marked, settings, tasks
from aiebuild.ide.jsonc import JsoncError
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = "./schema.json"
CONTRACTS = [
    Contract("one", "designs/one/design.yaml", "d", ("npu1_1col", "npu2_1col")),
    Contract("two", "designs/two/design.yaml", "d", ("npu2",)),
]
WANTED = tasks.tasks(CONTRACTS, ("scons",))
COMMENTED = """\
// Tasks of ours.
{
    /* the schema */ "version": "2.0.0", // 2.0.0
    "tasks": [
        // The simulator, first.
        {
            "label": "simulate", "type": "shell",
            "command": "echo \\"// no comment, and no end: ]\\"", // quotes
        }, // after the comma
        { "label": "flash", "group": { "kind": "build", "isDefault": true } } // no comma
        // The last word.
    ],
    "inputs": [], /* a trailing comma: */
}
// end
"""


def labels(text: str) -> list[str]:
    """Return the labels of the tasks of a file."""
    value = jsonc.read(text, "tasks.json").value
    assert value is not None
    return [task["label"] for task in value.plain()["tasks"]]


def without_ours(text: str) -> str:
    """Return a text without the lines of our part."""
    head, _, rest = text.partition(marked.BEGIN)
    return head.rstrip() + rest.partition(marked.END)[2]


def test_a_task_is_made_for_each_design_and_arch() -> None:
    found = [task["label"].removeprefix("aiebuild: ") for task in WANTED]
    builds = [label for label in found if label.startswith("build")]
    of_one = ["build one (host)", "build one (aie2)", "build one (aie2p)"]
    assert builds == ["build all", *of_one, "build two (host)", "build two (aie2p)"]
    assert {"check all", "check one", "check two"} <= set(found)
    (default,) = (task for task in WANTED if task.get("group") == {"kind": "build", "isDefault": True})
    assert default["args"] == ["--no-progress"]


def test_everything_of_the_user_survives_and_twice_is_once() -> None:
    merged, _ = tasks.merge(COMMENTED, WANTED)
    assert labels(merged) == ["simulate", "flash", *(task["label"] for task in WANTED)]
    assert without_ours(merged).replace("} }, // no comma", "} } // no comma") == COMMENTED
    assert tasks.merge(merged, WANTED)[0] == merged


def test_what_was_ours_is_replaced_and_nothing_around_it() -> None:
    merged, _ = tasks.merge(COMMENTED, WANTED)
    more = merged.replace(marked.END, f'{marked.END}\n        , // mine again\n        {{ "label": "last" }}')
    again, _ = tasks.merge(more, WANTED[:1])
    assert labels(again) == ["simulate", "flash", WANTED[0]["label"], "last"]
    assert ", // mine again" in again
    assert tasks.merge(again, WANTED[:1])[0] == again
    back, _ = tasks.merge(again, WANTED)
    assert labels(back) == ["simulate", "flash", *(task["label"] for task in WANTED), "last"]


def test_a_task_after_ours_without_a_comma_between_gets_one() -> None:
    merged, _ = tasks.merge('{"version": "2.0.0", "tasks": []}', WANTED[:2])
    at = merged.rindex("]")
    more = merged[:at].rstrip()
    last = more.rindex(marked.END)
    more = f'{more[:last].rstrip()},\n    {marked.END}\n    {{"label": "mine"}}\n  {merged[at:]}'
    again, _ = tasks.merge(more, WANTED[:1])
    assert labels(again) == [WANTED[0]["label"], "mine"]


def test_the_users_default_stays_the_only_one_and_their_label_wins() -> None:
    first, second = '{"label": "aiebuild: build all"}', '{"group": {"kind": "test", "isDefault": true}}'
    own = f'{{"version": "2.0.0", "tasks": [{first}, {second}]}}'
    merged, notes = tasks.merge(own, WANTED)
    value = jsonc.read(merged, "tasks.json").value
    assert value is not None
    found = value.plain()["tasks"]
    assert sum(task.get("label") == "aiebuild: build all" for task in found) == 1
    assert next(task for task in found if task.get("label") == "aiebuild: check all")["group"] == "test"
    assert notes == [".vscode/tasks.json: your own task 'aiebuild: build all' is kept in place of ours"]


@pytest.mark.parametrize("text", ["", "\n", "// nothing yet\n", "/* nothing */", "{}", "\ufeff", "\ufeff{}", "[\n"[:0]])
def test_a_file_that_says_nothing_is_filled(text: str) -> None:
    merged, _ = tasks.merge(text, WANTED)
    assert labels(merged) == [task["label"] for task in WANTED]
    assert merged.startswith(text.strip("\n{}"))
    assert tasks.merge(merged, WANTED)[0] == merged
    settled = settings.merge(text, SCHEMA)
    assert settings.merge(settled, SCHEMA) == settled
    assert settled.startswith(text.strip("\n{}"))


def test_line_ends_the_byte_order_mark_and_tabs_stay() -> None:
    text = "\ufeff" + COMMENTED.replace("    ", "\t").replace("\n", "\r\n")
    merged, _ = tasks.merge(text, WANTED)
    assert merged.startswith("\ufeff// Tasks of ours.\r\n")
    assert merged.count("\n") == merged.count("\r\n")
    assert f"\r\n\t\t{marked.BEGIN}\r\n\t\t{{\r\n" in merged
    assert tasks.merge(merged, WANTED)[0] == merged
    assert "\n" not in settings.merge("\ufeff{\r\n}\r\n", SCHEMA).replace("\r\n", "")


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ('{\n  "tasks": [\n    {"a": 1}\n    {"b": 2}\n  ]\n}', "4:5", "expected ',' or ']', and there is '{'"),
        ('{\n  "tasks": [', "2:13", "and the file ends"),
        ("{'a': 1}", "1:2", "expected a key in double quotes"),
        ('{\n"a": nope}', "2:6", "expected a value, and there is 'n'"),
        ('{\r\n"a": 1,\r\n/* never\r\n}', "3:1", "this comment has no end"),
        ('{"a": "x\n"}', "1:7", "expected a string with its closing quote"),
        ('{"a": 1} {', "1:10", "expected the end of the file"),
        ('{"a": [1,,2]}', "1:10", "expected a value"),
        ("[" * 200, "1:102", "levels of nesting"),
        ("[]", "1:1", "expected an object"),
        ('{"version": "0.1.0"}', "1:13", "the version of these tasks is not 2.0.0"),
        ('{"version": "2.0.0",\n "tasks": {}}', "2:11", "`tasks` is not a list"),
        ('{"version": "2.0.0", "tasks": [\n// >>> aiebuild\n]}', "2:1", "the marks of aiebuild's part do not match"),
        ('{"version": "2.0.0", "tasks": [\n// <<< aiebuild\n// >>> aiebuild\n]}', "2:1", "do not match"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_with_its_place(text: str, place: str, said: str) -> None:
    with pytest.raises(JsoncError) as caught:
        tasks.merge(text, WANTED)
    assert str(caught.value).startswith(f".vscode/tasks.json:{place}: error: ")
    assert said in str(caught.value)


SETTINGS = """\
{
  // Mine.
  "editor.tabSize": 4,
  "yaml.schemas": { "./other.json": "x.yaml" }, // theirs
  "clangd.arguments": ["--background-index"]
}
"""


def plain(text: str) -> Any:
    """Return what a file says."""
    value = jsonc.read(text, "settings.json").value
    assert value is not None
    return value.plain()


def test_entries_that_the_user_has_too_get_ours_inside() -> None:
    merged = settings.merge(SETTINGS, SCHEMA)
    assert plain(merged) == {
        "editor.tabSize": 4.0,
        "yaml.schemas": {"./other.json": "x.yaml", SCHEMA: ["designs/*/design.yaml"]},
        "clangd.arguments": ["--background-index", settings.DATABASE],
    }
    assert "// Mine.\n" in merged
    assert " // theirs\n" in merged
    assert settings.merge(merged, SCHEMA) == merged
    assert plain(settings.merge(merged, "./new.json"))["yaml.schemas"].keys() == {"./other.json", "./new.json"}


def test_entries_that_the_user_adds_later_take_ours_over() -> None:
    merged = settings.merge("{\n}\n", SCHEMA)
    own = merged.replace("{", '{\n  "clangd.arguments": ["--log=error"],', 1)
    again = settings.merge(own, SCHEMA)
    assert plain(again)["clangd.arguments"] == ["--log=error", settings.DATABASE]
    assert again.count('"clangd.arguments"') == 1
    assert settings.merge(again, SCHEMA) == again


def test_what_the_user_says_otherwise_is_left() -> None:
    own = '{"clangd.arguments": ["--compile-commands-dir=/elsewhere"], "yaml.schemas": {"./schema.json": "mine"}}'
    assert settings.merge(own, SCHEMA) == own
    with pytest.raises(JsoncError, match=r"`yaml\.schemas` is not an object"):
        settings.merge('{"yaml.schemas": []}', SCHEMA)
    with pytest.raises(JsoncError, match=r"`clangd\.arguments` is not an array"):
        settings.merge('{"clangd.arguments": "x"}', SCHEMA)


SPACE = st.sampled_from(["", " ", "\n", "\t", "// c ] } , \n", "/* { */", "\n  // x\n  "])
WORD = st.sampled_from(["", "a", "ü", '"', "\\\\", "//", "]", "\n"])
SCALAR = st.one_of(st.integers(-9, 9), st.booleans(), st.none(), WORD, st.sampled_from([1.5, -2e30]))
VALUE = st.one_of(SCALAR, st.lists(SCALAR, max_size=2), st.dictionaries(WORD, SCALAR, max_size=2))


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Draw a `tasks.json` with any comments, white space and commas."""
    ascii_only, values = draw(st.booleans()), draw(st.lists(VALUE, max_size=3))
    elements = [f"{draw(SPACE)}{json.dumps(value, ensure_ascii=ascii_only)}{draw(SPACE)}" for value in values]
    trailing = f",{draw(SPACE)}" if bool(elements) and draw(st.booleans()) else ""
    inside = f"[{draw(SPACE)}{','.join(elements)}{trailing}]{draw(SPACE)}"
    return f'{draw(SPACE)}{{"version"{draw(SPACE)}: "2.0.0", "tasks": {inside}}}{draw(SPACE)}'


@limits(deadline=None, max_examples=60)
@given(documents(), st.integers(0, 3), st.integers(0, 3))
def test_any_file_keeps_what_is_the_users(text: str, first: int, second: int) -> None:
    before = plain(text)["tasks"]
    merged, _ = tasks.merge(text, WANTED[:first])
    assert plain(merged)["tasks"][: len(before)] == before
    assert len(plain(merged)["tasks"]) == len(before) + first
    assert [comment.text for comment in jsonc.read(text, "").comments] == [
        comment.text for comment in jsonc.read(merged, "").comments if "aiebuild" not in comment.text
    ]
    assert tasks.merge(merged, WANTED[:first])[0] == merged
    again, _ = tasks.merge(merged, WANTED[:second])
    if second and first:
        assert again == tasks.merge(text, WANTED[:second])[0]


def test_a_file_is_written_only_where_it_changes_through_links_and_with_its_mode(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("old")
    real.chmod(0o600)
    (tmp_path / "link.json").symlink_to(real)
    assert files.update(tmp_path, "link.json", lambda text: f"{text} and new")
    assert (tmp_path / "link.json").is_symlink()
    assert real.read_text() == "old and new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    os.utime(real, ns=(1, 1))
    assert not files.update(tmp_path, "link.json", lambda text: text)
    assert real.stat().st_mtime_ns == 1


def test_a_file_that_is_no_text_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b"{\n\xff}")
    with pytest.raises(AieBuildError, match=r"x\.json:2: error: this is not text in UTF-8"):
        files.update(tmp_path, "x.json", lambda text: text)
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(AieBuildError, match=r"folder\.json: error: Is a directory"):
        files.update(tmp_path, "folder.json", lambda text: text)


ENTRY = database.Entry("kernels/a.cc", ("c++", "-c", "kernels/a.cc"), "build/host/objects/a-0123456789ab.o")


def test_our_own_database_is_replaced_and_no_other_one(tmp_path: Path) -> None:
    path = tmp_path / database.FILE
    database.require_ours(path)
    for ours in ("", "[]", database.text([ENTRY], tmp_path)):
        path.write_text(ours)
        database.require_ours(path)
    for other in ("{}", "[1]", "nonsense", '[{"file": "a.c", "output": "a.o"}]', "[" * 100_000):
        path.write_text(other)
        with pytest.raises(AieBuildError, match=r"^compile_commands\.json: error: .* left alone"):
            database.require_ours(path)
    path.unlink()
    path.symlink_to(tmp_path / "build.json")
    with pytest.raises(AieBuildError, match="link"):
        database.require_ours(path)
