"""make docs: write all blocks of README and docs from what is stored.

Numbers in prose that are not in the inventory are printed. No command measured them, so they must
be settings, formulas, names or years: look at each, then accept them by ``--accept``.
"""

import sys
from pathlib import Path

import pages


def write(root: Path = pages.ROOT, accept: bool = False) -> list[str]:
    """Write every page, and the inventory if asked; return what is left to do."""
    left: list[str] = []
    for path in pages.pages(root):
        complaints: list[str] = []
        text = path.read_text(encoding="utf-8")
        anew = pages.rendered(text, pages.results(root), complaints)
        if anew != text:
            path.write_text(anew, encoding="utf-8")
            print(f"written: {path.relative_to(root)}")
        left += [f"{path.relative_to(root)}: {line}" for line in complaints]
    there = pages.all_prose(root)
    changes = list(pages.changes(pages.inventory(root), there))
    for sign, number in changes:
        print(f"{sign} {number.number:>8}  {number.page}: {number.context}")
    if accept:
        pages.write_inventory(root, there)
    elif changes:
        left.append("numbers in prose have changed: look at them, then docs/write.py --accept")
    return left + pages.wrong_files(root) + pages.wrong_figures(root)


if __name__ == "__main__":
    problems = write(accept="--accept" in sys.argv[1:])
    print(*problems, sep="\n", file=sys.stderr)
    sys.exit(bool(problems))
