"""Which files import a module, directly or through others: for `mutants.py`."""

import ast
from collections import deque
from pathlib import Path


def importers(module: Path, folders: list[Path]) -> dict[Path, int]:
    """All files in the folders that import a module, with the number of imports on the way."""
    names = {name: path for folder in folders for path in folder.rglob("*.py")
             for name in names_of(path, folder)}  # fmt: skip
    imported = {path: {names[name] for name in imports(path) if name in names}
                for path in set(names.values())}  # fmt: skip
    distances, waiting = {module: 0}, deque([module])
    while waiting:
        reached = waiting.popleft()
        for path, needed in imported.items():
            if reached in needed and path not in distances:
                distances[path] = distances[reached] + 1
                waiting.append(path)
    return distances


def names_of(path: Path, folder: Path) -> set[str]:
    """The names by which a file can be imported: outside of packages, also that of the file."""
    parts = path.relative_to(folder).with_suffix("").parts
    if parts[-1] == "__init__":
        return {".".join(parts[:-1])}
    alone = not (path.parent / "__init__.py").is_file()
    return {".".join(parts), path.stem} if alone else {".".join(parts)}


def imports(path: Path) -> set[str]:
    """The dotted names in the import statements of a file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found
