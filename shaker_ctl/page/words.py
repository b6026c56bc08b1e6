"""The page's words in the languages that it has: one catalogue, read with the standard library.

Owns the choice of a language and the words that come from the table, which are looked up in the
same catalogue. English is the key; what a catalogue lacks stays English. A house adds a language,
or its own words, in a folder of its own (`page.words`).
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from markupsafe import Markup, escape

DOMAIN = "page"
SHIPPED = Path(__file__).parent / "locale"
DEFAULT = "en"

NAMES = {"en": "English", "zh-Hant": "繁體中文"}
"""What each language calls itself, for those that ship."""

Say = Callable[[str], str]


class Words:
    """All catalogues that are there."""

    def __init__(self, house: Path | None = None, default: str = DEFAULT) -> None:
        """`house`: a folder with more; where both know a word, the house's holds."""
        self.default = default
        folders = [SHIPPED] if house is None else [SHIPPED, house]
        self._known: dict[str, gettext.NullTranslations] = {DEFAULT: gettext.NullTranslations()}
        for folder in folders:
            for file in sorted(folder.glob(f"*/LC_MESSAGES/{DOMAIN}.mo")):
                with file.open("rb") as opened:
                    read = gettext.GNUTranslations(opened)
                name = file.parts[-3].replace("_", "-")
                if (before := self._known.get(name)) is not None and name != DEFAULT:
                    read.add_fallback(before)
                self._known[name] = read

    @property
    def languages(self) -> dict[str, str]:
        """Each language's tag and its own name."""
        return {tag: NAMES.get(tag, tag) for tag in self._known}

    def say(self, language: str) -> Say:
        """Return the function that turns English into `language`."""
        return self._known.get(language, self._known[DEFAULT]).gettext

    def chosen(self, asked: str, accepted: str) -> str:
        """Return the language for one request: `asked` for by name, else the first that the browser
        accepts (RFC 9110, 12.5.4; browsers name the best one first), else the house's.
        """
        if asked in self._known:
            return asked
        for part in accepted.lower()[:500].split(","):
            tag = part.partition(";")[0].strip()
            for known in self._known:
                if tag == known.lower() or _same(tag) == _same(known.lower()):
                    return known
        return self.default


_TRADITIONAL = ("zh-hant", "zh-tw", "zh-hk", "zh-mo")


def _same(tag: str) -> str:
    """Regions in which one language is written alike."""
    if tag.startswith(_TRADITIONAL):
        return "zh-hant"
    return tag.partition("-")[0] if not tag.startswith("zh") else tag


_COMMAND = re.compile("`([^`]*)`")
_SENTENCE = re.compile(r"(?<=[.?!])\s+")


def sentences(text: str, say: Say) -> Markup:
    """Translate the table's sentences one by one: it joins them as the moment asks for. What a
    console puts between backticks is a command.
    """
    said = " ".join(say(one) for one in _SENTENCE.split(text)) if text else ""
    return Markup(_COMMAND.sub(r"<code>\1</code>", str(escape(said))))


def area(name: str, say: Say) -> str:
    """Return a betting area in words, for those who do not see the layout."""
    kind, _, rest = name.partition("-")
    patterns: Mapping[str, str] = {
        "total": say("total {}"),
        "one": say("single {}"),
        "pair": say("pair {}"),
        "double": say("double {}"),
        "triple": say("triple {}"),
    }
    if rest and kind in patterns:
        return patterns[kind].format(rest.replace("-", " "))
    return say(name.replace("-", " "))
