"""`.vscode/settings.json`: the schema of contracts for the YAML extension, and clangd's compilation database."""

from __future__ import annotations

import json

from aiebuild.ide import jsonc, marked
from aiebuild.ide.jsonc import JsoncError

FILE = ".vscode/settings.json"
EMPTY = "{\n}\n"
SCHEMAS = "yaml.schemas"
"""The setting of Red Hat's YAML extension that maps schemas to files."""

CONTRACTS = "designs/*/design.yaml"
CLANGD = "clangd.arguments"
"""The setting of clangd's own extension."""

DATABASE = "--compile-commands-dir=${workspaceFolder}"


def merge(text: str, schema: str, file: str = FILE) -> str:
    """Return the text of `settings.json` with our entries.

    An entry that the user has as well gets ours inside: a schema more, an argument more. Where the user has said the
    same thing otherwise, that is left as it is.

    Args:
        text: the file as it is; empty for none.
        schema: the schema of contracts, as the setting names it.
        file: its name, for messages.

    Raises:
        JsoncError: the text is not JSON with comments, or an entry is not of the form that it must have.
    """
    text = _put_inside(text, SCHEMAS, "object", f"{json.dumps(schema)}: {json.dumps([CONTRACTS])}", file)
    text = _put_inside(text, CLANGD, "array", json.dumps(DATABASE), file)
    document = marked.opened(text, EMPTY, file)
    root = marked.root(document, file)
    own = {member.key for member in marked.others(document, root, file)}
    ours = {SCHEMAS: json.dumps({schema: [CONTRACTS]}), CLANGD: json.dumps([DATABASE])}
    items = [f'"{key}": {value}' for key, value in ours.items() if key not in own]
    return marked.put(document, root, items, file)


def _put_inside(text: str, key: str, kind: str, item: str, file: str) -> str:
    """Put an item into the user's own entry, where there is one."""
    document = marked.opened(text, EMPTY, file)
    root = marked.root(document, file)
    member = next((each for each in reversed(marked.others(document, root, file)) if each.key == key), None)
    if member is None:
        return text
    if member.value.kind != kind:
        form = "{...}" if kind == "object" else "[...]"
        where = jsonc.location(text, member.value.start, file)
        raise JsoncError(f"`{key}` is not {'an' if kind[0] in 'ao' else 'a'} {kind}", where, f'"{key}": {form}')
    own = marked.others(document, member.value, file)
    said = any(
        each.key == json.loads(item.partition(": ")[0])
        if kind == "object"
        else str(each.value.scalar).startswith(DATABASE.partition("=")[0])
        for each in own
    )
    return marked.put(document, member.value, [] if said else [item], file)
