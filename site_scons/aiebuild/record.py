"""The record of what a result depended on: made once, and compared with what is there as often as is asked.

Standard library only, and little of that: this module is imported before anything else.
"""

from __future__ import annotations

import _thread
import json
import os
import sys
import time
import zlib

from aiebuild import __version__
from aiebuild.stamps import Table, digest, is_young, pack, stamp

TYPE_CHECKING = False  # the name is what type checkers know; importing typing takes 8 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from aiebuild.stamps import Stamp

FORM = 5
"""The form of a record; one of another form is no record."""

Difference = tuple[str, str]
"""A file that is not as it was, and what happened to it; what is not about a file has an empty name."""

NONE = "there is no record of a build"
OTHER_VERSION = "it was built by another version of aiebuild"


def said(found: Iterable[Difference]) -> list[str]:
    """Return differences in words, none twice."""
    return list(dict.fromkeys(f"{name} {what}" if name else what for name, what in found))


def content(
    request: str,
    *,
    files: dict[str, Stamp],
    folders: dict[str, Stamp],
    names: dict[str, str],
    absent: list[str],
    variables: dict[str, str | None],
    answer: dict[str, object],
    doubt: str = "",
) -> dict[str, Any]:
    """Return a record of what is there now.

    Args:
        request: what it is of.
        files: everything that was read or written, relative to the current folder or absolute.
        folders: what was searched or listed: a new name in one of them may be a new input.
        names: `listings` of those that may change without that, as where an editor writes beside its file.
        absent: files that were looked for and not there.
        variables: the environment variables that decide; None for one that is not set.
        answer: what is said of the build when it is asked for again; `output` is its folder.
        doubt: why it can never be told whether it is up to date; empty where it can.
    """
    now = time.time_ns()
    young = {name: digest(name) for name, known in (files | folders).items() if known and is_young(known, now)}
    return {
        "form": FORM,
        "version": __version__,
        "request": request,
        "python": [sys.version, sys.prefix],
        "at": now,
        "files": pack({name: known for name, known in files.items() if known}),
        "missing": [name for name, known in files.items() if not known],
        "young": young,
        "folders": folders,
        "names": names,
        "absent": absent,
        "variables": variables,
        "answer": answer,
        "doubt": doubt,
    }


def keep(path: str, record: dict[str, Any]) -> None:
    """Write a record: a line with its checksum, which tells a damaged one, and the record as JSON."""
    text = json.dumps(record, separators=(",", ":")).encode()
    aside = f"{path}.{os.getpid()}.{_thread.get_ident()}.new"
    with open(aside, "wb") as stream:  # noqa: PTH123 - see above
        stream.write(b"%08x\n" % zlib.crc32(text) + text)
    os.replace(aside, path)  # noqa: PTH105 - see above


def recall(path: str) -> dict[str, Any]:
    """Return a record as it was written.

    Raises:
        ValueError, TypeError, KeyError: it is damaged.
        OSError: there is none.
    """
    with open(path, "rb") as stream:  # noqa: PTH123 - see above
        checksum, _, text = stream.read().partition(b"\n")
    if int(checksum, 16) != zlib.crc32(text):
        raise ValueError(path)
    known: dict[str, Any] = json.loads(text)
    if not isinstance(known, dict) or not isinstance(known["answer"]["output"], str):
        raise TypeError(path)
    return known


class Known:
    """A record that was read.

    Args:
        path: its file; where there is none it is never written.
        record: what it says.
        root: the folder that its names start from; the current one when empty.
        forks: as for `Table`.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it is damaged.
    """

    def __init__(self, path: str, record: dict[str, Any], root: str = "", *, forks: bool = False) -> None:
        self.path = path
        self.record = record
        self.answer: dict[str, object] = record["answer"]
        self._start = f"{root.rstrip(os.sep)}{os.sep}" if root else ""
        self._place = self._below if root else _unchanged
        self._files = Table(record["files"] if record["form"] == FORM else pack({}), root, forks=forks)

    def fault(self, request: str) -> str:
        """Return why it says nothing about a request; empty where it does."""
        if self.record["request"] != request:
            return NONE
        if self.record["form"] != FORM or self.record["version"] != __version__:
            return OTHER_VERSION
        return str(self.record["doubt"])

    def differences(
        self, variables: dict[str, str], reasons: int = 1, look: Callable[[str], Stamp] | None = None
    ) -> list[Difference]:
        """Return the first differences from what is there; none where nothing changed.

        Args:
            variables: the environment as it is now.
            reasons: how many are wanted.
            look: gives the stamp of a file; each file is looked at when left out.
        """
        found = self._settings(variables)
        if not self._has_same_files(look):
            found += self._changed_files(look or stamp, reasons)
        if len(found) < reasons:
            found += self._others(look or stamp)
        return found[:reasons]

    def names(self) -> list[str]:
        """Return the files and folders that are compared."""
        return [self._place(name) for name in (*self._files.names(), *self.record["folders"])]

    def refresh(self, now: int) -> None:
        """Leave out the contents of files that have come of age: they were compared after `now` and are as recorded.

        Only where each of them was old enough *before* it was compared: what changed since would have another time.
        """
        young = self.record["young"]
        if not young:
            return
        known = dict(self._files.items()) | self.record["folders"]
        if any(is_young(known[name], now) for name in young):
            return
        self.record["young"] = {}
        try:
            if self.path:
                keep(self.path, self.record)
        except OSError:
            return

    def _settings(self, variables: dict[str, str]) -> list[Difference]:
        found = [("", "another Python runs")] if self.record["python"] != [sys.version, sys.prefix] else []
        return found + [
            ("", f"the variable {name} changed")
            for name, value in self.record["variables"].items()
            if variables.get(name) != value
        ]

    def _has_same_files(self, look: Callable[[str], Stamp] | None) -> bool:
        """Return whether all files have their stamps: the question of a build with nothing to do, which is fast."""
        if look is None:
            return self._files.is_same()
        return all(look(self._place(name)) == then for name, then in self._files.items())

    def _changed_files(self, look: Callable[[str], Stamp], reasons: int) -> list[Difference]:
        found: list[Difference] = []
        for name, then in self._files.items():
            if len(found) >= reasons:
                return found
            now = look(self._place(name))
            if now != then:
                found.append((name, "changed" if now else "is gone"))
        return found

    def _others(self, look: Callable[[str], Stamp]) -> list[Difference]:
        """Return the differences beside the stamps of files: contents of young ones, and names that came or went."""
        record, place = self.record, self._place
        young, folders = record["young"], record["folders"]
        known = dict(self._files.items()) if young else {}
        found = [
            (name, "changed")
            for name in young
            if name not in folders and look(place(name)) == known[name] and digest(place(name)) != young[name]
        ]
        found += [(name, "is new") for name in record["missing"] if look(place(name))]
        others = [name for name, then in folders.items() if not self._has_same_names(name, look(place(name)), then)]
        found += [("", f"names in {name} changed") for name in dict.fromkeys(map(self._called, others))]
        return found + [(name, "is new") for name in record["absent"] if os.path.lexists(place(name))]

    def _has_same_names(self, name: str, now: Stamp, then: Stamp) -> bool:
        young, is_untouched = self.record["young"], now[1:] == then[1:]
        if is_untouched and name not in young:
            return True
        known = self.record["names"].get(name) or (is_untouched and young[name])
        return bool(known) and digest(self._place(name)) == known

    def _below(self, name: str) -> str:
        return name if os.path.isabs(name) else self._start + name  # noqa: PTH117 - see above

    def _called(self, folder: str) -> str:
        """Return the one name of a folder that people are told, relative where it is the project's."""
        root = self._start.rstrip(os.sep) or os.getcwd()  # noqa: PTH109 - see above
        if folder == root or not folder:
            return "."
        return folder.removeprefix(f"{root.rstrip(os.sep)}{os.sep}")


class Records:
    """Records that were read, each anew only where its file is another one.

    Args:
        root: the folder that their names start from; the current one when empty.
        forks: as for `Table`.
    """

    def __init__(self, root: str = "", *, forks: bool = False) -> None:
        self._root = root
        self._forks = forks
        self._known: dict[str, tuple[Stamp, Known]] = {}

    def check(
        self,
        path: str,
        request: str,
        variables: dict[str, str],
        reasons: int,
        look: Callable[[str], Stamp] | None = None,
    ) -> tuple[dict[str, object] | None, list[Difference]]:
        """Return the answer of a fresh record and no reasons, or None and the first reasons why it is not.

        Args:
            path: its file.
            request: what it has to be of.
            variables: the environment as it is now.
            reasons: how many are wanted.
            look: gives the stamp of a file; each file is looked at when left out.
        """
        now = time.time_ns()
        try:
            known = self._read(path)
            fault = known.fault(request)
            found = [("", fault)] if fault else known.differences(variables, reasons, look)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None, [("", NONE)]
        if found:
            return None, found
        known.refresh(now)
        return known.answer, []

    def known(self) -> list[Known]:
        """Return the records that were read."""
        return [known for _, known in self._known.values()]

    def _read(self, path: str) -> Known:
        now = stamp(path)
        then, known = self._known.get(path, ([], None))
        if known is None or then != now:
            known = Known(path, recall(path), self._root, forks=self._forks)
            self._known[path] = (now, known)
        return known


def _unchanged(name: str) -> str:
    return name
