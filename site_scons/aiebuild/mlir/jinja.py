"""Jinja2 as templates of MLIR need it: strict, deterministic, every line of the result with its place."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import jinja2
from jinja2 import nodes
from jinja2.compiler import CodeGenerator
from jinja2.environment import TemplateModule
from jinja2.filters import do_indent
from jinja2.utils import missing

from aiebuild.errors import AieBuildError, Location, MlirError, did_you_mean
from aiebuild.files import project_path
from aiebuild.mlir import traced
from aiebuild.parameters import CONTEXT, Parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from jinja2.compiler import Frame


class RaisedError(jinja2.TemplateError):
    """What a template's own `raise("...")` says."""


class UnknownNameError(jinja2.UndefinedError):
    """A name stands for nothing; `known` are the names that it could have been, None at top level."""

    def __init__(self, message: str, name: str, known: tuple[str, ...] | None) -> None:
        super().__init__(message)
        self.name = name
        self.known = known


class Unknown(jinja2.StrictUndefined):
    """What an unknown name stands for: using it is an error that knows the name."""

    __slots__ = ()

    def __init__(
        self,
        hint: str | None = None,
        obj: Any = missing,
        name: str | None = None,
        exc: type[jinja2.TemplateRuntimeError] = jinja2.UndefinedError,
    ) -> None:
        super().__init__(hint, obj, name, exc)
        known = () if hint else None if obj is missing else _members(obj)
        # Jinja2 calls this with the message, and asks nothing more of it than an exception.
        fails = functools.partial(UnknownNameError, name=str(name), known=known)
        self._undefined_exception = cast("type[jinja2.TemplateRuntimeError]", fails)

    @property
    def _undefined_message(self) -> str:
        if self._undefined_hint:
            return self._undefined_hint
        name, of = repr(self._undefined_name), self._undefined_obj
        if of is missing:
            return f"unknown name {name}"
        if isinstance(of, TemplateModule):
            return f"{of.__name__} has no macro {name}"
        if isinstance(of, Parameters):
            return f"no parameter {name}"
        return f"a value of type {type(of).__name__} has no {name}"


def _members(of: object) -> tuple[str, ...]:
    if isinstance(of, Parameters):
        return (*of, *CONTEXT)
    if isinstance(of, dict):
        return tuple(str(key) for key in of)
    return tuple(name for name in vars(of) if not name.startswith("_")) if hasattr(of, "__dict__") else ()


class TracingGenerator(CodeGenerator):
    """Has every piece of output wrapped with its place.

    The `_output_...` methods are the ones that Jinja2's own native-types generator overrides.
    """

    _call_line = 0
    _include_line = 0

    def _output_child_to_const(
        self,
        node: nodes.Expr,  # noqa: ARG002 - the signature is Jinja2's
        frame: Frame,  # noqa: ARG002 - the same
        finalize: Any,  # noqa: ARG002 - the same
    ) -> NoReturn:
        """Refuse to merge pieces when the template is compiled: they would lose their places."""
        raise nodes.Impossible

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        if isinstance(node, nodes.TemplateData):
            self.write("environment.literal(")
            return
        self.write("environment.value(")
        super()._output_child_pre(node, frame, finalize)

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        if not isinstance(node, nodes.TemplateData):
            super()._output_child_post(node, frame, finalize)
        self.write(f", {self.filename!r}, {node.lineno})")

    def start_write(self, frame: Frame, node: nodes.Node | None = None) -> None:
        """Begin the output of a call block, a filter block, a block or a piece of an included template."""
        super().start_write(frame, node)
        self.write("environment.called(environment.value(" if self._include_line else "environment.value(")
        self._call_line = node.lineno if node else self._include_line

    def end_write(self, frame: Frame) -> None:
        """End what `start_write` began."""
        here = f", {self.filename!r}, {self._call_line})"
        self.write(here + here if self._include_line else here)
        super().end_write(frame)

    def visit_Include(self, node: nodes.Include, frame: Frame) -> None:  # noqa: N802 - the name is Jinja2's
        """Include a template whose text counts as text of this line."""
        self._include_line = node.lineno
        super().visit_Include(node, frame)
        self._include_line = 0

    def visit_Call(  # noqa: N802 - the name is Jinja2's
        self,
        node: nodes.Call,
        frame: Frame,
        forward_caller: bool = False,
    ) -> None:
        """Call a macro, or anything else; the text of a macro counts as text of this line."""
        # What `caller()` gives stands where the macro was called, not in the macro.
        is_macro = not (isinstance(node.node, nodes.Name) and node.node.name == "caller")
        if is_macro:
            self.write("environment.called(")
        super().visit_Call(node, frame, forward_caller=forward_caller)
        if is_macro:
            self.write(f", {self.filename!r}, {node.lineno})")


class TracingEnvironment(jinja2.Environment):
    """Jinja2 for MLIR: `true` and `1.0e-05` as MLIR writes them, nothing random, no undefined names."""

    code_generator_class = TracingGenerator
    concat = staticmethod(traced.join)
    called = staticmethod(traced.called)
    literal = staticmethod(traced.literal)
    value = staticmethod(traced.value)

    def __init__(self, loader: SearchLoader) -> None:
        super().__init__(
            loader=loader,
            undefined=Unknown,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            finalize=written,
            extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"],
        )
        # The same parameters must give the same text.
        del self.filters["random"], self.globals["lipsum"]
        self.filters["indent"] = indent
        self.globals["raise"] = refuse


TAG = re.compile(
    r"(end)?(autoescape|block|call|filter|for|if|macro|raw|set|with)"
    r"|break|continue|do|elif|else|extends|from|import|include|print"
)
OPENINGS = re.compile(r"\{%[-+]?\s*raw\b.*?\{%[-+]?\s*endraw\b|\{%([A-Za-z0-9_$.]+)", re.DOTALL)


def keep_values_in_braces(text: str) -> str:
    """Return the template with `{%core}` as text: in MLIR that is a set of values, while a tag is written `{% if`.

    `{%if` still is a tag, since its name is one.
    """

    def kept(found: re.Match[str]) -> str:
        name = found[1]
        return found[0] if name is None or TAG.fullmatch(name) else f'{{{{ "{{%" }}}}{name}'

    return OPENINGS.sub(kept, text)


class SearchLoader(jinja2.BaseLoader):
    """Finds templates by name in folders, and remembers what it looked for in vain and what it read: file and text."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = tuple(folders)
        self.read: dict[str, str] = {}
        self.absent: dict[str, None] = {}

    def get_source(
        self, environment: jinja2.Environment, template: str
    ) -> tuple[str, str | None, Callable[[], bool] | None]:
        """Return text and file of the first template of that name."""
        del environment
        if Path(template).is_absolute() or ".." in Path(template).parts:
            message = f"the template {template!r} is not named from a folder of templates"
            raise MlirError(message, hint=f"templates are searched for in: {self._searched()}")
        for folder in self.folders:
            path = folder / template
            if path.is_file():
                return self._text(path), project_path(path), None
            self.absent[project_path(path)] = None
        raise jinja2.TemplateNotFound(template, f"there is no template {template!r}")

    def _text(self, path: Path) -> str:
        file = project_path(path)
        self.read[file] = ""
        try:
            self.read[file] = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise MlirError(f"{file} is not UTF-8 text: {error.reason}") from None
        return keep_values_in_braces(self.read[file])

    def _searched(self) -> str:
        return ", ".join(project_path(folder) for folder in self.folders)

    def nearest(self, name: str) -> str:
        """Return the nearest template to a name, or else where templates are searched for."""
        known = {path.relative_to(folder).as_posix() for folder in self.folders for path in folder.glob("**/*.j2")}
        near = did_you_mean(name, known)
        return near if near.startswith("did") else f"templates are searched for in: {self._searched()}"


def text_of(name: str, values: Mapping[str, object], loader: SearchLoader) -> str:
    """Return the text that a template gives, traced.

    Raises:
        MlirError: the template, or one that it uses, is wrong; with its line.
    """
    environment = TracingEnvironment(loader)
    try:
        return environment.get_template(name).render(values)
    except jinja2.TemplateSyntaxError as error:
        where = Location(error.filename or name, error.lineno)
        raise MlirError(_sentence(error), where, _near_filter(error, environment)) from None
    except Exception as error:
        # A template can raise anything, and all of it is the user's to mend.
        places = _places(error, frozenset(loader.read))
        message, hint = _explain(error, values, loader, environment)
        raise MlirError(message, places[-1] if places else None, hint or _caller(places)) from None


def line_of_extends(text: str) -> int | None:
    """Return the line in which a template that can be rendered names the one that it extends, if it does."""
    template = TracingEnvironment(SearchLoader(())).parse(keep_values_in_braces(text))
    found = template.find(nodes.Extends)
    return found.lineno if found else None


def _places(error: Exception, files: frozenset[str]) -> list[Location]:
    """Return the lines of templates in a traceback, the innermost last; Jinja2 has put them into it."""
    found = []
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file in files:
            found.append(Location(file, trace.tb_lineno))
        trace = trace.tb_next
    return found


def _caller(places: list[Location]) -> str:
    """Return where a shared template was used from, if it was one that failed."""
    return f"used at {places[0]}" if places and places[0].file != places[-1].file else ""


def _explain(
    error: Exception, values: Mapping[str, object], loader: SearchLoader, environment: TracingEnvironment
) -> tuple[str, str]:
    """Return message and hint."""
    if isinstance(error, UnknownNameError):
        return _sentence(error), _near_name(error, values, loader, environment)
    if isinstance(error, jinja2.TemplateNotFound):
        names = getattr(error, "templates", None) or [error.name]
        return f"there is no template {' or '.join(map(repr, names))}", loader.nearest(str(names[0]))
    if isinstance(error, AieBuildError):
        return error.message, error.hint
    if isinstance(error, RecursionError):
        return "the templates include or call each other without end", ""
    if isinstance(error, jinja2.TemplateError):
        return _sentence(error), ""
    return f"{type(error).__name__}: {error}", ""


def _sentence(error: jinja2.TemplateError) -> str:
    return str(error.message or "the template is wrong").rstrip(".")


def _near_name(
    error: UnknownNameError,
    values: Mapping[str, object],
    loader: SearchLoader,
    environment: TracingEnvironment,
) -> str:
    if error.known is not None:
        return did_you_mean(error.name, error.known)
    if error.name in values:
        return f"a macro does not see parameters: pass it {error.name}, or import the macro 'with context'"
    local = {name for text in loader.read.values() for name in _defined(environment.parse(keep_values_in_braces(text)))}
    return did_you_mean(error.name, {*values, *local})


def _defined(template: nodes.Template) -> Iterator[str]:
    """Yield the names that a template itself gives a meaning."""
    for node in template.find_all((nodes.Macro, nodes.Import, nodes.FromImport, nodes.Name)):
        if isinstance(node, nodes.Macro):
            yield node.name
        elif isinstance(node, nodes.Import):
            yield node.target
        elif isinstance(node, nodes.FromImport):
            yield from (name if isinstance(name, str) else name[1] for name in node.names)
        elif isinstance(node, nodes.Name) and node.ctx != "load":
            yield node.name


def _near_filter(error: jinja2.TemplateSyntaxError, environment: TracingEnvironment) -> str:
    found = re.match(r"No (filter|test) named '(\w+)'", error.message or "")
    if found is None:
        return ""
    known = environment.filters if found[1] == "filter" else environment.tests
    near = did_you_mean(found[2], known)
    return near if near.startswith("did") else ""


def written(value: object) -> object:
    """Return a value as MLIR text has it."""
    if value is None:
        message = "the expression gives none, which is no text"
        raise RaisedError(message)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        # MLIR's floats have a point before the exponent.
        mantissa, mark, exponent = repr(value).partition("e")
        return f"{mantissa}.0e{exponent}" if mark and "." not in mantissa else repr(value)
    return value


def refuse(message: object) -> NoReturn:
    """Let a template say that it cannot be rendered."""
    raise RaisedError(str(message))


@functools.wraps(do_indent)
def indent(s: str, *args: Any, **kwargs: Any) -> str:
    """Indent as Jinja2's filter does, and keep the origins of the lines."""
    result = do_indent(str.__str__(s), *args, **kwargs)
    if isinstance(s, traced.Traced) and result.count("\n") + 1 == len(s.origins):
        return traced.Traced(result, s.origins)
    return result
