# ruff: noqa: PTH100, PTH109, PTH110, PTH112, PTH113, PTH118, PTH119, PTH120, PTH122, PTH123, PTH206, PTH208
# Not pathlib: it would be imported before the script, which may have a module of a name that pathlib needs.
"""Runs a Python generator and records what it imports and reads.

This file stands alone: the interpreter that the generator needs (Python 3.8 or later) runs it as a script and need not
know aiebuild. It is given one file, the job, and writes one, the record. Both are plain data in the form of `marshal`:
reading it imports nothing that the generator might have a module of its own for.

Reads are seen by an audit hook, imports by a finder that finds nothing. Compiled caches of the project's modules are
neither read nor written: they would hide an edit that keeps the size and the time of a source.
"""

from __future__ import annotations

import atexit
import marshal
import os
import stat
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

QUESTIONS = ("stat", "lstat", "access", "readlink")
"""Functions of `os` that no audit event tells of."""

UNSEEN = {
    "subprocess.Popen": "starts",
    "os.system": "starts",
    "os.exec": "starts",
    "os.posix_spawn": "starts",
    "os.spawn": "starts",
    "os.fork": "forks",
    "os.forkpty": "forks",
    "socket.connect": "opens a connection",
}
"""Audit events after which something may be read that is not seen here, in words."""

SYSTEM = ("/proc/", "/sys/", "/dev/")
CACHES = os.sep + "__pycache__" + os.sep
ITSELF = os.path.abspath(__file__)
STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
INSTALLED = ("site-packages", "dist-packages")


class Asking:
    """One of the questions of `os`, and so `os.path.exists` and the like, that notes what is there and what is not.

    It is no function: older versions of pathlib keep `os.stat` in a class, which would make a method of one.
    """

    def __init__(self, name: str, recorder: Recorder) -> None:
        self._name = name
        self._recorder = recorder
        self._real = getattr(os, name)

    def __call__(self, path: Any, *args: Any, **more: Any) -> Any:
        """Return what the system's own does."""
        try:
            result = self._real(path, *args, **more)
        except OSError:
            self._note(path, more, False)
            raise
        self._note(path, more, self._is_there(result))
        return result

    def _is_there(self, result: Any) -> bool:
        """Return whether a file is there; a folder is told of by what is looked for in it."""
        return bool(result) if self._name in {"access", "readlink"} else not stat.S_ISDIR(result.st_mode)

    def _note(self, path: Any, more: dict[str, Any], is_there: bool) -> None:
        text = _text(path)
        if text is not None and more.get("dir_fd") is None:
            self._recorder.ask(text, is_there)

    def install(self) -> None:
        """Take the place of the system's own, with all that this can do."""
        for able in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks, os.supports_effective_ids):
            if self._real in able:
                able.add(self)
        setattr(os, self._name, self)
        # Python 3.10's pathlib, where somebody has imported it already.
        accessor = getattr(sys.modules.get("pathlib"), "_NormalAccessor", None)
        if self._name in vars(accessor or object):
            setattr(accessor, self._name, self)


class Recorder:
    """What one run of a generator imports, reads, lists and does that cannot be seen."""

    def __init__(self, root: str, output: str) -> None:
        self.root = root
        self.output = output
        # An environment inside the project is not the project: its packages are installed, not edited.
        self.environments = [prefix for prefix in {sys.prefix, sys.base_prefix} if self._below_root(prefix)]
        self.opened: dict[str, bool] = {}  # whether it was there to be read, before the generator wrote it
        self.asked: dict[str, bool] = {}  # whether it was there
        self.looked: dict[str, tuple[str, ...]] = {}
        self.listed: dict[str, None] = {}
        self.warnings: dict[tuple[str, str, int], None] = {}

    def _below_root(self, path: str) -> bool:
        return path.startswith(self.root.rstrip(os.sep) + os.sep)

    def absolute(self, path: str) -> str:
        """Return a path without `.` and `..`; links are followed only where a `..` may come after one."""
        full = os.path.join(os.getcwd(), path)
        return os.path.realpath(full) if ".." in full.split(os.sep) else os.path.normpath(full)

    def is_own(self, path: str) -> bool:
        """Return whether an absolute path is one of the project's own."""
        if path == ITSELF or not self._below_root(path):
            return False
        return not any(path.startswith(prefix + os.sep) for prefix in self.environments)

    def _is_own_folder(self, path: str) -> bool:
        return path == self.root or self.is_own(path)

    def install(self) -> None:
        """Begin to watch."""
        sys.addaudithook(self._hear)
        for name in QUESTIONS:
            Asking(name, self).install()
        sys.meta_path.insert(0, self)
        real = SourceFileLoader.get_data

        def get_data(loader: Any, path: str) -> bytes:
            if path.endswith(".pyc") and self.is_own(path):
                raise FileNotFoundError(path)
            return real(loader, path)

        setattr(SourceFileLoader, "get_data", get_data)  # noqa: B010 - a plain assignment has no type that fits

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Note that a module is looked for, and where; find nothing."""
        del target
        places = sys.path if path is None else path
        self.looked.setdefault(name, tuple(place for place in places if isinstance(place, str)))
        return None

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            self._hear_open(args[0], args[2])
        elif event == "sqlite3.connect":
            self._hear_database(args[0])
        elif event in {"os.listdir", "os.scandir"}:
            # The import system lists folders too; what it looks for is known by name.
            if "importlib" not in sys._getframe(1).f_code.co_filename:
                self._list(args[0])
        elif event == "ctypes.dlopen":
            if isinstance(args[0], str) and os.sep in args[0]:
                self.opened.setdefault(self.absolute(args[0]), True)
        elif event in UNSEEN:
            self._warn(UNSEEN[event] + _program(event, args))

    def _hear_open(self, given: Any, flags: Any) -> None:
        text = _text(given)
        if text is None:
            return
        path = self.absolute(text)
        kind = flags & (os.O_WRONLY | os.O_RDWR) if isinstance(flags, int) else os.O_RDONLY
        read = kind == os.O_RDONLY or (kind == os.O_RDWR and not flags & os.O_TRUNC)
        self.opened.setdefault(path, read)
        if read and ".." in text:
            # A link may stand before it, and come to lead elsewhere.
            self.opened.setdefault(os.path.join(os.getcwd(), text), read)
        if kind != os.O_RDONLY and path != self.output and self.is_own(path):
            self._warn("writes '" + self.shown(path) + "'")

    def _hear_database(self, given: Any) -> None:
        """Note the file of a database: one in memory has a name with a colon before it, or none."""
        name = (_text(given) or "").partition("?")[0]
        name = name[len("file:") :] if name.startswith("file:") else name
        if name and not name.startswith(":"):
            self.opened.setdefault(self.absolute(name), True)

    def _list(self, given: Any) -> None:
        path = _text("." if given is None else given)
        if path is not None and self._counts(self.absolute(path)):
            self.listed.setdefault(self.absolute(path))

    def ask(self, text: str, is_there: bool) -> None:
        """Note a path that the project asks about."""
        path = self.absolute(text)
        if self._counts(path):
            self.asked[path] = self.asked.get(path, False) or is_there

    def _counts(self, path: str) -> bool:
        """Return whether it is noted who asks about a path: of those outside only what the project's own lines ask."""
        if self._is_own_folder(path) or _is_standard(path):
            return self._is_own_folder(path)
        frame: Any = sys._getframe(1)
        while frame is not None and _is_beneath(frame.f_code.co_filename):
            frame = frame.f_back
        return frame is not None and self.is_own(self.absolute(frame.f_code.co_filename))

    def _warn(self, what: str) -> None:
        frame: Any = sys._getframe(1)
        while frame is not None and not self.is_own(self.absolute(frame.f_code.co_filename)):
            frame = frame.f_back
        if frame is not None:
            file = self.shown(self.absolute(frame.f_code.co_filename))
            self.warnings.setdefault((what, file, frame.f_lineno))

    def shown(self, path: str) -> str:
        """Return an absolute path as messages have it: relative to the project where it is below it."""
        return os.path.relpath(path, self.root) if self._below_root(path) else path

    def closure(self) -> dict[str, Any]:
        """Return what was read and what was looked for in vain, as far as somebody could change it."""
        opened = {_source_of(path): read for path, read in list(self.opened.items())}
        asked = {
            path: there for path, there in list(self.asked.items()) if path != self.output
        }  # before we ask ourselves
        read = {path for path, there in opened.items() if there} | self.found_there() | _loaded() | _interpreter()
        wanted = {path for path in read if path not in {ITSELF, self.output} and not _is_standard(path)}
        files = {path for path in wanted if os.path.isfile(path)}
        missed = {path for path in wanted if self.is_own(path) and not os.path.exists(path)}
        missed |= {path for path in asked if not os.path.exists(path)}
        return {
            "files": sorted(files),
            "absent": sorted(missed | self._hidden()),
            "folders": sorted(self.listed),
            "warnings": sorted(self.warnings),
        }

    def found_there(self) -> set[str]:
        """Return the files that were asked about and there, without those that were written before they were read."""
        return {path for path, there in list(self.asked.items()) if there and self.opened.get(path, True)}

    def _hidden(self) -> set[str]:
        """Return the project's files that would have been imported instead of what was, had they existed."""
        found: set[str] = set()
        for name, places in self.looked.items():
            spec = getattr(sys.modules.get(name), "__spec__", None)
            origin = getattr(spec, "origin", None) or ""
            if origin not in {"built-in", "frozen"}:
                searched = [self.absolute(place) for place in places]
                found.update(self._before(name.rpartition(".")[2], searched, os.path.dirname(origin)))
        return found

    def _before(self, name: str, places: list[str], there: str) -> list[str]:
        """Return the project's places for a module that come before the one where it is, all where it is nowhere."""
        own = [place for place in places if self._is_own_folder(place)]
        absent: list[str] = []
        for place in places if own else []:
            module = os.path.join(place, name)
            for candidate in (os.path.join(module, "__init__.py"), module + ".py"):
                if os.path.exists(candidate):
                    return absent
                if place in own:
                    absent.append(candidate)
            if place == there:
                return absent
        # It is nowhere: then a folder of its name would do as well.
        return absent + [os.path.join(place, name) for place in own if not os.path.exists(os.path.join(place, name))]


def _is_beneath(file: str) -> bool:
    """Return whether a file is Python's library, or this one: whoever calls it is who asks."""
    return file.startswith("<") or _is_standard(file) or os.path.abspath(file) == ITSELF


def _text(path: Any) -> str | None:
    """Return a path as text; None for a file that is open already."""
    if isinstance(path, int):
        return None
    try:
        return os.fsdecode(path)
    except TypeError:
        return None


def _program(event: str, args: tuple[Any, ...]) -> str:
    if UNSEEN[event] != "starts":
        return ""
    position = 1 if event == "os.spawn" else 0
    given = args[position]
    if given is None and len(args) > 1:
        given = args[1] if isinstance(args[1], (str, bytes)) else next(iter(args[1]), None)
    words = (_text(given) or "a program").split()
    return " '" + (words[0] if words else "") + "'"


def _source_of(path: str) -> str:
    """Return the source of a compiled cache, any other path as it is."""
    folder, _, name = path.rpartition(CACHES)
    return os.path.join(folder, name.split(".")[0] + ".py") if folder and name.endswith(".pyc") else path


def _is_standard(path: str) -> bool:
    """Return whether a file is the interpreter's own, or the system's."""
    if path.startswith(SYSTEM):
        return True
    return path.startswith(STANDARD) and not path[len(STANDARD) :].startswith(INSTALLED)


def _loaded() -> set[str]:
    """Return the files of the modules that are loaded: libraries are not opened like other files."""
    names = (vars(module).get("__file__") for module in list(sys.modules.values()) if hasattr(module, "__dict__"))
    return {os.path.abspath(name) for name in names if isinstance(name, str)}


def _interpreter() -> set[str]:
    """Return the files that make the interpreter what it is: the program, and what says where packages are."""
    found = {os.path.realpath(sys.executable), os.path.join(sys.prefix, "pyvenv.cfg")}
    for folder in sys.path:
        if folder.endswith(INSTALLED) and os.path.isdir(folder):
            found.update(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".pth"))
    return found


def _names_of(function: Any) -> Any:
    """Return the keywords that a function has a name for, as a tuple; None where that cannot be known."""
    function = getattr(function, "__wrapped__", function)
    code = getattr(function, "__code__", None)
    return code and code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]


def _failure(error: BaseException, recorder: Recorder) -> dict[str, Any]:
    """Return an exception and what it came from, the first one first, each with the lines of the project."""
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain:
        chain.insert(0, link)
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    kind = "exit" if isinstance(error, SystemExit) else "exception"
    code = error.code if isinstance(error, SystemExit) else 1
    return {
        "kind": kind,
        "code": code if isinstance(code, int) else str(code),
        "chain": [_told(part, recorder) for part in chain],
    }


def _told(error: BaseException, recorder: Recorder) -> dict[str, Any]:
    frames = []
    trace = error.__traceback__
    while trace is not None:
        file = recorder.absolute(trace.tb_frame.f_code.co_filename)
        if recorder.is_own(file):
            frames.append((recorder.shown(file), trace.tb_lineno, trace.tb_frame.f_code.co_name))
        trace = trace.tb_next
    kind = type(error)
    module = "" if kind.__module__ in {"builtins", "__main__"} else kind.__module__ + "."
    told: dict[str, Any] = {"type": module + kind.__qualname__, "message": _said(error), "frames": frames}
    told["from"] = error.__cause__ is not None
    if isinstance(error, SyntaxError) and error.filename:
        told["message"] = str(error.msg)
        told["syntax"] = (recorder.shown(recorder.absolute(error.filename)), error.lineno or 0, error.offset or 0)
    return told


def _said(error: BaseException) -> str:
    try:
        return "\n".join([str(error), *map(str, getattr(error, "__notes__", ()))])
    except Exception:  # it is the generator's class, and may do anything
        return "(its message cannot be shown)"


def _run(job: dict[str, Any]) -> dict[str, Any]:
    """Run the generator; return what it made, or what it wants said."""
    script: str = job["script"]
    path = os.path.join(job["root"], script)
    with open(path, "rb") as stream:
        source = stream.read()
    name = job["function"] and os.path.splitext(os.path.basename(script))[0]
    module = type(sys)(name or "__main__")
    # As given, not absolute: the same text then comes out wherever the project is.
    module.__file__ = script
    sys.modules[module.__name__] = module
    sys.argv = [script, *job["argv"]]
    sys.path[:1] = [os.path.dirname(path), *(os.path.join(job["root"], folder) for folder in job["search"])]
    exec(compile(source, script, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - it is what this is for
    return _call(module, job) if name else {}


def _call(module: Any, job: dict[str, Any]) -> dict[str, Any]:
    values = vars(module)
    if job["function"] not in values:
        names = [name for name, value in values.items() if callable(value) and not name.startswith("_")]
        return {"failure": {"kind": "missing", "names": names}}
    function = values[job["function"]]
    if not callable(function):
        return {"failure": {"kind": "not callable", "type": type(function).__name__}}
    names = _names_of(function)
    offered = {name: value for name, value in job["offers"].items() if names and name in names}
    try:
        made = function(**job["keywords"], **offered)
    except TypeError as error:
        # Deeper than this frame there is none: the call itself did not fit.
        if error.__traceback__ is None or error.__traceback__.tb_next is not None:
            raise
        line = getattr(getattr(function, "__code__", None), "co_firstlineno", 0)
        return {"failure": {"kind": "call", "message": str(error), "names": names or (), "line": line}}
    return {} if made is None else {"text": bytes(made) if isinstance(made, bytes) else str.__str__(str(made))}


def main() -> None:
    """Run the job that the first argument names."""
    with open(sys.argv[1], "rb") as stream:
        job = marshal.loads(stream.read())  # noqa: S302 - our own parent wrote it
    recorder = Recorder(job["root"], job["output"])
    record: dict[str, Any] = {}

    def leave() -> None:
        sys.stdout.flush()
        record.update(recorder.closure())
        with open(job["record"], "wb") as stream:
            stream.write(marshal.dumps(record, 2))

    recorder.install()
    atexit.register(leave)
    try:
        record.update(_run(job))
    except SystemExit as error:
        if error.code is not None and error.code != 0:
            record["failure"] = _failure(error, recorder)
    except BaseException as error:  # whatever the generator raises is what is to be said
        record["failure"] = _failure(error, recorder)
    if "failure" in record:
        sys.exit(1)


if __name__ == "__main__":
    main()
