"""make docs: write all blocks of README and docs from what is stored, and the inventory of numbers.

Numbers in prose that are new are printed: no command measured them, so they should be settings,
formulas, names or years.
"""

import sys
from pathlib import Path

import pages


def write(root: Path = pages.ROOT) -> list[str]:
    """Write every page and the inventory; return what could not be done."""
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
    for sign, number in pages.changes(pages.inventory(root), there):
        print(f"{sign} {number.number:>8}  {number.page}: {number.context}")
    pages.write_inventory(root, there)
    return left + pages.wrong_files(root) + pages.wrong_figures(root)


if __name__ == "__main__":
    problems = write()
    print(*problems, sep="\n", file=sys.stderr)
    sys.exit(bool(problems))
