"""README and docs: blocks that a command writes, the numbers left in prose, figures.

A block stands between two comments; what opens it may hold options (docs/layouts.py), in TOML:

    <!-- table: NAME
    cells = ["regret", "difference"]
    -->
    (written by make docs from docs/results/NAME.csv, or from NAME.txt for what a command printed)
    <!-- end: NAME -->

Options that would be longer than what they write stand in docs/blocks.toml under a name of their
own: <!-- table: NAME as OWN_NAME -->. Every other number on a page is in an inventory,
docs/results/prose/PAGE.csv.
"""

import csv
import difflib
import hashlib
import io
import re
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import layouts
import stored

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(
    r"(?P<opening><!-- table: (?P<name>[\w.-]+)(?P<options>(?:\s[^>]*?)?)\s*-->\n)"
    r"(?P<body>.*?)"
    r"(?P<closing><!-- end: (?P=name) -->)",
    re.DOTALL,
)
MARKER = re.compile(r"<!-- (?:table|end):")
WORDS = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|"
    "fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|"
    "sixty|seventy|eighty|ninety|hundreds?|thousands?|millions?|half|halves|thirds?|quarters?|"
    "fifths?|tenths?|hundredths?|thousandths?|dozens?|twice|thrice|double|doubles|"
    r"\w+fold"
)
NUMBER = re.compile(
    r"(?:(?<![\w.,–-])[−+-])?\d+(?:[.,/  ]?\d+)*(?:e[−+-]?\d+)?|[²³¹⁰-⁹₀-₉½⅓⅔¼¾⅕]+"
    rf"|\b(?:{WORDS})\b",
    re.IGNORECASE,
)
PROSE, FIGURES = "prose", "figures.csv"
AROUND = 24  # characters of context on either side


class Number(NamedTuple):
    """A number in prose, and what stands around it."""

    page: str
    number: str
    context: str


def pages(root: Path) -> list[Path]:
    """README and all pages of docs."""
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]


def results(root: Path) -> Path:
    """Where what was measured is stored."""
    return root / "docs" / "results"


def files(root: Path) -> list[Path]:
    """All tables and outputs that are stored."""
    there = sorted(results(root).glob("*"))
    return [path for path in there if path.name not in (PROSE, FIGURES)]


# Blocks


def rendered(text: str, folder: Path, complain: list[str]) -> str:
    """A page with all blocks written anew; a block that cannot be written stays as it is."""

    def anew(match: re.Match[str]) -> str:
        try:
            body = block(match["name"], match["options"], folder)
        except ValueError as error:
            complain.append(f"block {match['name']}: {error}")
            return match[0]
        return f"{match['opening']}{body}{match['closing']}"

    found = BLOCK.sub(anew, text)
    if len(MARKER.findall(text)) != 2 * len(BLOCK.findall(text)):
        complain.append("a marker <!-- table: NAME --> or <!-- end: NAME --> lacks the other one")
    return found


def block(name: str, options: str, folder: Path) -> str:
    """The body of a block."""
    path = stored.find(folder, name)
    if path is None:
        raise ValueError(
            f"there is no docs/results/{name}.csv: measure it and store it by docs/record.py"
        )
    found = stored.read(path)
    if path.suffix == ".txt":
        return f"```text\n{found.body}```\n{layouts.source(found.origin)}\n"
    try:
        return f"\n{layouts.as_markdown(found, chosen(options, folder.parent))}\n"
    except (TypeError, LookupError, AttributeError) as error:
        raise ValueError(f"the options do not fit (docs/layouts.py): {error!r}") from None


def chosen(options: str, docs: Path) -> dict[str, Any]:
    """The options of a block: those in its marker, or those in docs/blocks.toml that it names."""
    word, _, name = options.strip().partition(" ")
    try:
        if word != "as":
            return tomllib.loads(options)
        known = tomllib.loads((docs / "blocks.toml").read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"the options must be TOML: {error}") from None
    if name not in known:
        raise ValueError(f"docs/blocks.toml must have one of {', '.join(known)}, got {name!r}")
    found: dict[str, Any] = known[name]
    return found


def used(root: Path) -> set[str]:
    """The names of all blocks on all pages."""
    return {
        match["name"]
        for path in pages(root)
        for match in BLOCK.finditer(path.read_text(encoding="utf-8"))
    }


# Numbers in prose


def prose(page: str, text: str) -> list[Number]:
    """The numbers of a page that no block holds, in order."""
    kept = BLOCK.sub(lambda match: f"{match['opening']}{match['closing']}", text)
    return [
        Number(page, match[0], around(kept, match.start(), match.end()))
        for match in NUMBER.finditer(kept)
    ]


def around(text: str, start: int, end: int) -> str:
    """A few words before and after a place in a text."""
    before, after = text[max(0, start - AROUND) : start], text[end : end + AROUND]
    return " ".join(f"{before}{text[start:end]}{after}".split())


def all_prose(root: Path) -> list[Number]:
    """The numbers in prose of all pages."""
    return [
        number
        for path in pages(root)
        for number in prose(str(path.relative_to(root)), path.read_text(encoding="utf-8"))
    ]


def inventory(root: Path) -> list[Number]:
    """The numbers in prose that were accepted."""
    return [
        Number(name_of(path), **row)
        for path in sorted((results(root) / PROSE).glob("*.csv"))
        for row in csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))
    ]


def name_of(path: Path) -> str:
    """The page that an inventory is of."""
    return f"{path.stem}.md" if path.stem == "README" else f"docs/{path.stem}.md"


def write_inventory(root: Path, numbers: list[Number]) -> None:
    """Accept the numbers that are there."""
    folder = results(root) / PROSE
    folder.mkdir(parents=True, exist_ok=True)
    names = {name_of(path): path for path in folder.glob("*.csv")}
    for page in {number.page for number in numbers}:
        names[page] = folder / f"{Path(page).stem}.csv"
    for page, path in names.items():
        rows = [number[1:] for number in numbers if number.page == page]
        if rows:
            path.write_text(stored.as_csv(Number._fields[1:], rows), encoding="utf-8")
        else:
            path.unlink()


def changes(accepted: list[Number], there: list[Number]) -> Iterator[tuple[str, Number]]:
    """What was taken out ("-") and put in ("+"), page by page."""
    for page in dict.fromkeys(number.page for number in (*accepted, *there)):
        old, new = ([n for n in some if n.page == page] for some in (accepted, there))
        matcher = difflib.SequenceMatcher(
            None, [n.number for n in old], [n.number for n in new], autojunk=False
        )
        for kind, a, b, c, d in matcher.get_opcodes():
            if kind != "equal":
                yield from (("-", number) for number in old[a:b])
                yield from (("+", number) for number in new[c:d])


# All that can be wrong


def problems(root: Path = ROOT) -> list[str]:
    """What is wrong with the pages, one line each; nothing if all is as commands wrote it."""
    found: list[str] = []
    for path in pages(root):
        found += [f"{path.relative_to(root)}: {line}" for line in wrong_blocks(path, results(root))]
    found += wrong_files(root)
    found += wrong_figures(root)
    for sign, number in changes(inventory(root), all_prose(root)):
        state = "is not in the inventory" if sign == "+" else "was accepted and is not there"
        found.append(
            f"{number.page}: {number.number!r} in '{number.context}' {state}: put it right, or "
            "accept it by docs/write.py --accept (CONTRIBUTING.md: what is measured has a block)"
        )
    return found


def wrong_blocks(path: Path, folder: Path) -> list[str]:
    """Blocks of a page that are not as they would be written."""
    text, found = path.read_text(encoding="utf-8"), list[str]()
    anew = rendered(text, folder, found)
    for old, new in zip(BLOCK.finditer(text), BLOCK.finditer(anew), strict=True):
        if old["body"] != new["body"]:
            pairs = zip(old["body"].splitlines(), new["body"].splitlines(), strict=False)
            first = next((f"{a!r} should be {b!r}" for a, b in pairs if a != b), "lines differ")
            found.append(f"block {old['name']} is not as make docs writes it: {first}")
    return found


def wrong_files(root: Path) -> list[str]:
    """Stored results that are damaged, or on no page."""
    found, names = list[str](), used(root)
    for path in files(root):
        try:
            stored.read(path)
        except (ValueError, UnicodeDecodeError) as error:
            found.append(str(error))
        if path.stem not in names:
            found.append(f"docs/results/{path.name} is on no page: remove it or show it")
    return found


def figures(root: Path) -> dict[str, dict[str, str]]:
    """What is known of each figure, by its file."""
    path = results(root) / FIGURES
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return {row["file"]: row for row in csv.DictReader(io.StringIO(text))}


def sha256(path: Path) -> str:
    """The hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def wrong_figures(root: Path) -> list[str]:
    """Figures that no command made as they are, or that are on no page."""
    known, found = figures(root), list[str]()
    text = "".join(path.read_text(encoding="utf-8") for path in pages(root))
    there = {path.name: path for path in sorted((root / "docs").glob("*.png"))}
    for name in sorted(known.keys() | there.keys()):
        if name not in there:
            found.append(f"docs/{name} is missing, but docs/results/{FIGURES} has it")
        elif name not in known or known[name]["sha256"] != sha256(there[name]):
            found.append(f"docs/{name} is not as recorded: draw it and store it by docs/record.py")
        elif not all(
            re.fullmatch(pattern, known[name][key]) for key, pattern in stored.NEEDED.items()
        ):
            found.append(f"docs/results/{FIGURES}: {name} needs a command, a commit and a date")
        if f"{name})" not in text:
            found.append(f"docs/{name} is on no page: remove it or show it")
    return found


def commits(root: Path) -> set[str]:
    """The commits of all that is stored."""
    named = {row["commit"] for row in figures(root).values()}
    return named | {stored.read(path).origin["commit"] for path in files(root)}


def unknown_commits(named: Iterable[str], root: Path = ROOT) -> list[str]:
    """Those that git does not know; none where git or the history is not at hand."""
    try:
        shallow = git(root, "rev-parse", "--is-shallow-repository")
    except (OSError, subprocess.CalledProcessError):
        return []
    if shallow != "false":
        return []
    return [commit for commit in sorted(named) if not is_commit(root, commit)]


def is_commit(root: Path, name: str) -> bool:
    """Whether git knows a commit."""
    try:
        return git(root, "cat-file", "-t", name) == "commit"
    except subprocess.CalledProcessError:
        return False


def git(root: Path, *arguments: str) -> str:
    """What git answers."""
    answer = subprocess.run(
        ["git", *arguments], cwd=root, check=True, capture_output=True, text=True
    )
    return answer.stdout.strip()
