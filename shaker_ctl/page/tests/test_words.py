"""The catalogues that ship: compiled as they are written, and whole for sign, staff and rounds."""

from __future__ import annotations

import gettext
import re
from pathlib import Path

import pytest

from shaker_ctl.page.app import MENU
from shaker_ctl.page.words import SHIPPED, Words, sentences
from shaker_ctl.rules.vocabulary import Role
from shaker_ctl.view.phase_words import PHASE_WORDS
from shaker_ctl.view.room import CALLS, WAGERS

FOLDER = SHIPPED / "zh_Hant" / "LC_MESSAGES"
TEMPLATES = Path(__file__).parents[1] / "templates"
TRANSLATED = (
    *("base", "sign", "staff", "rounds", "round", "login", "error", "macros"),
    *("parts/bar", "parts/state", "parts/staff", "parts/result", "parts/layout", "parts/road"),
    *("parts/stale", "day", "statistics", "looked"),
)
OF_FLOOR = tuple(f"../../floor/templates/{name}" for name in ("floor", "floor_day", "parts/cards"))
_MESSAGE = re.compile(r'^msgid "((?:[^"\\]|\\.)+)"\nmsgstr "((?:[^"\\]|\\.)*)"', re.MULTILINE)


def written() -> dict[str, str]:
    text = (FOLDER / "page.po").read_text("utf-8")
    return {key.replace(r"\"", '"'): value for key, value in _MESSAGE.findall(text)}


def asked(name: str) -> set[str]:
    text = (TEMPLATES / f"{name}.html").read_text("utf-8")
    return {one.replace(r"\'", "'") for one in re.findall(r"_\('((?:[^'\\]|\\.)*)'\)", text)}


def test_the_compiled_catalogue_is_the_written_one() -> None:
    with (FOLDER / "page.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)

    assert {key: compiled.gettext(key) for key in written()} == written(), "make words"


@pytest.mark.parametrize("template", [*TRANSLATED, *OF_FLOOR])
def test_every_word_of_sign_and_rounds_is_translated(template: str) -> None:
    assert asked(template) - set(written()) == set()


def test_the_tables_own_sentences_are_translated() -> None:
    known = set(written())
    of_play = {words.staff for words in PHASE_WORDS.values() if "nspect" not in words.staff}
    of_room = {words.room for words in PHASE_WORDS.values()} | set(WAGERS.values())
    of_room |= {words.wagers for words in PHASE_WORDS.values() if words.wagers}
    calls = {words.call for words in PHASE_WORDS.values() if words.call} | set(CALLS.values())

    assert {role.value for role in Role} <= known
    assert of_play <= known
    assert of_room | calls <= known


def test_no_two_pages_of_the_menu_and_no_light_switch_have_one_name() -> None:
    say = Words().say("zh-Hant")
    names = [*(name for _right, _path, name in MENU), "Day", "Night"]

    assert len({say(name) for name in names}) == len(names)


@pytest.mark.parametrize(
    ("asked_for", "accepted", "chosen"),
    [
        ("", "zh-TW,zh;q=0.9,en;q=0.8", "zh-Hant"),
        ("", "zh-Hant-HK", "zh-Hant"),
        ("", "de, en;q=0.5", "en"),
        ("", "zh-CN", "en"),
        ("en", "zh-TW", "en"),
        ("../../etc", "zh-TW;q=x", "zh-Hant"),
        ("", ";;;,,;q=", "en"),
    ],
)
def test_the_language_is_the_one_asked_for(asked_for: str, accepted: str, chosen: str) -> None:
    assert Words().chosen(asked_for, accepted) == chosen


def test_a_house_adds_its_own_words_and_what_it_lacks_is_as_shipped(tmp_path: Path) -> None:
    place = tmp_path / "zh_Hant" / "LC_MESSAGES"
    place.mkdir(parents=True)
    shipped = (FOLDER / "page.mo").read_bytes()
    without_rounds = shipped.replace(b"\0Rounds\0", b"\0Roundz\0")
    (place / "page.mo").write_bytes(without_rounds.replace("請下注".encode(), "請投注".encode()))

    say = Words(tmp_path).say("zh-Hant")

    assert say("Bets are open.") == "請投注。"
    assert say("Rounds") == "局次"


def test_sentences_that_the_table_joins_are_translated_one_by_one() -> None:
    say = Words().say("zh-Hant")

    assert (
        sentences("Bets are open. lamp: see `lamps` <b>.", say)
        == "請下注。 lamp: see <code>lamps</code> &lt;b&gt;."
    )
