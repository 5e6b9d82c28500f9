"""SCons's database of signatures, read and written by the entry.

SCons keeps one pickle for each folder: a build of one object out of a thousand would read and write all of them. Here
each entry is a pickle of its own inside the folder's, made when it is stored and read when it is asked for.
"""

from __future__ import annotations

import pickle
from typing import Any

import SCons.Node
import SCons.SConsign

SOURCE = 3
"""Our entry in SCons's table of ways to store what is known of a node: of a source, nothing.

What a target was made from is stored with the target. A source's own entry would only spare hashing it where its age is
trusted, which it is not.
"""


def install() -> None:
    """Put our kind of a folder's signatures in the place of SCons's, for this process."""
    SCons.SConsign.ForDirectory = Folder
    SCons.Node.store_info_map[SOURCE] = _store_unless_source


def _store_unless_source(node: Any) -> None:
    if node.has_builder():
        SCons.Node.store_info_file(node)


class Folder(SCons.SConsign.DB):
    """The signatures of one folder."""

    def __init__(self, dir: Any) -> None:  # noqa: A002 - SCons's name
        super().__init__(dir)
        self.dirty: bool = self.dirty
        self._stored: dict[str, bytes] = {}
        self._set: set[str] = set()
        for name, entry in list(self.entries.items()):
            if isinstance(entry, _Packed):
                self._stored[name] = entry.data
                del self.entries[name]

    def get_entry(self, filename: str) -> Any:
        """Return what is stored of a file.

        Raises:
            KeyError: nothing is, or it is damaged.
        """
        if filename not in self.entries:
            self.entries[filename] = self._unpack(filename)
        return self.entries[filename]

    def set_entry(self, filename: str, obj: Any) -> None:
        """Store an entry, as SCons's own tests of compilers do."""
        super().set_entry(filename, obj)
        self._set.add(filename)

    def write(self, sync: int = 1) -> None:
        """Write the entries that were set since the last time beside the ones that were not looked at."""
        if not self.dirty:
            return
        changed = self._set | set(self.to_be_merged)
        self.merge()
        database, _ = SCons.SConsign.Get_DataBase(self.dir)
        for name in changed:
            self.entries[name].convert_to_sconsign()
            self._stored[name] = pickle.dumps(self.entries[name], SCons.SConsign.PICKLE_PROTOCOL)
        packed = {name: _Packed(data) for name, data in self._stored.items()}
        path = SCons.SConsign.normcase(self.dir.get_internal_path())
        database[path] = pickle.dumps(packed, SCons.SConsign.PICKLE_PROTOCOL)
        self._set.clear()
        self.dirty = False
        if sync:
            database.sync()

    def _unpack(self, name: str) -> Any:
        try:
            entry = pickle.loads(self._stored[name])  # noqa: S301 - SCons's own database is made of pickles
        except (pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError, ValueError, TypeError):
            raise KeyError(name) from None
        entry.convert_from_sconsign(self.dir, name)
        return entry


class _Packed:
    """An entry as it is stored. SCons calls `convert_from_sconsign` on all entries that it reads."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __reduce__(self) -> tuple[type[_Packed], tuple[bytes]]:
        return _Packed, (self.data,)

    def convert_from_sconsign(self, dir: Any, name: str) -> None:  # noqa: A002 - SCons's name
        """Leave it as it is until it is asked for."""
