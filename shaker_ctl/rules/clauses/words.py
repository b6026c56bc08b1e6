"""A clause's own words, from a file that a person has of the text.

Owns the three ways in which the five texts are laid out. Must not open files. The texts are not
part of this product: their publishers have them.
"""

from __future__ import annotations

import itertools
import re

_PA = re.compile(r"^(\d+[a-z]?\.\d+)((?:\([a-z0-9]+\))*)$")
_MD = re.compile(r"^(\d+)\.([A-Z])((?:\([a-z0-9]+\))*)$")
_MA = re.compile(r"^(\d+)((?:\([a-z0-9]+\))*)$")

_CHAPTER = re.compile(r"^ch\. (\d+[a-z]?), Source")

_LABEL = re.compile(r"^(?:\(([a-z0-9]+)\)|([A-Z])\.) ")
_BETWEEN = re.compile(
    r"^(Authority|Source|Cross References|\[(?:Next page|Pa\.B\.).*|\d+[a-z]?-\d+|-{3,})$"
)
_HEADING = re.compile(r"^(§ \d|Chapter \d+ -|CHAPTER \d|\d+\. \S)")


def words(text: str, clause: str) -> str:
    """Return the words of `clause`, with its own subclauses, line by line; empty if not there."""
    lines = [_bare(line) for line in text.splitlines()]
    if chapter := _CHAPTER.match(clause):
        return _source(lines, chapter[1])
    found = _place(clause)
    if found is None:
        return ""
    heading, labels = found
    starts = [n for n, line in enumerate(lines) if line.startswith(heading)]
    for start in reversed(starts):
        if told := _within(lines[start + 1 :] if labels else lines[start:], labels):
            return told
    return ""


def _source(lines: list[str], chapter: str) -> str:
    """Return what a chapter says of where it comes from, before its first section."""
    heading = next((n for n, at in enumerate(lines) if at.startswith(f"CHAPTER {chapter}.")), None)
    if heading is None:
        return ""
    before = itertools.takewhile(lambda line: not line.startswith("§"), lines[heading + 1 :])
    after = itertools.dropwhile(lambda line: line != "Source", before)
    return next((line for line in after if line not in ("", "Source")), "")


def _place(clause: str) -> tuple[str, list[str]] | None:
    """Return how the section's heading begins, and the labels below it.

    `625a.5(b)(2)` is (`§ 625a.5.`, [`(b)`, `(2)`]), and `5.B(2)` (`Chapter 5 -`, [`B.`, `(2)`]).
    """
    if match := _PA.match(clause):
        return f"§ {match[1]}.", _labels(match[2])
    if match := _MD.match(clause):
        return f"Chapter {match[1]} -", [f"{match[2]}.", *_labels(match[3])]
    if match := _MA.match(clause):
        return f"{match[1]}. ", _labels(match[2])
    return None


def _labels(brackets: str) -> list[str]:
    return re.findall(r"\([a-z0-9]+\)", brackets)


def _bare(line: str) -> str:
    """Take off what a page's layout puts before and around a line."""
    return re.sub(r"\s+", " ", line.strip().lstrip("-#* ").replace("**", "")).strip()


def _level(line: str) -> int | None:
    """How deep a labelled line stands: a letter 1, a number 2, a small Roman number 3."""
    match = _LABEL.match(line)
    if match is None:
        return None
    label = match[1] or match[2]
    if match[2]:
        return 0
    return 2 if label.isdecimal() else 3 if set(label) <= set("ivx") else 1


def _within(lines: list[str], labels: list[str]) -> str:
    at = 0
    for label in labels:
        while at < len(lines) and not lines[at].startswith(f"{label} "):
            if _HEADING.match(lines[at]) and not lines[at].startswith("("):
                return ""
            at += 1
        if at == len(lines):
            return ""
    own = _level(lines[at]) if labels else None
    told = [lines[at]]
    for line in lines[at + 1 :]:
        level = _level(line)
        over = level is not None and own is not None and _outer(level, own, labels)
        if over or _HEADING.match(line) or _BETWEEN.match(line):
            break
        told.append(line)
    return "\n".join(line for line in told if line)


def _outer(level: int, own: int, labels: list[str]) -> bool:
    """True for a label as high as our own, or higher. Under `A.` letters stand below numbers."""
    if labels[0].endswith("."):
        order = {0: 0, 2: 1, 1: 2, 3: 2}
        return order[level] <= order[own]
    return level <= own
