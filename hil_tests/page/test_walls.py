"""The sign in every moment that a room sees: what it says, and that nothing on it moves.

A person at a console brings the table there; the sign is drawn from the view that results.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from hil_tests.page.conftest import SHOTS, violations
from hil_tests.page.moments import MOMENTS, ROUNDS, betting, served, tossing, typed, view_of
from hil_tests.waiting import until
from shaker_ctl.page.app import Page
from shaker_ctl.page.parameters import SignParameters
from shaker_ctl.page.tests.a_journal import Scribe
from shaker_ctl.page.tests.test_page import _page as made_page
from shaker_ctl.view.tests.seated import READ, Seated

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

SIZES = {
    "phone": (390, 844),
    "pi": (800, 480),
    "panel": (1024, 600),
    "desk": (1440, 900),
    "wall": (1920, 1080),
    "on-end": (1080, 1920),
    "4k": (3840, 2160),
}
DRAWN = (*((size, "en") for size in SIZES), ("phone", "zh-TW"), ("wall", "zh-TW"))
DICE = frozenset({"announcing", "result", "dispute", "no-roll", "void", "by-hand", "restart"}) | {
    "out-of-service",
    "between",
}
"""Moments by what they make large; the others show the board."""
_BOXES = """[...document.querySelectorAll('#live > section')].map(section => {
  const box = section.getBoundingClientRect();
  return [section.dataset.part, box.x, box.y, box.width, box.height].join(' ');
})"""
_CUT_OFF = """[...document.querySelectorAll(
    '.call *, .shown, .life *, .sum, .left, .about>*, .marks, .cell>*')]
  .filter(one => {
    const box = one.getBoundingClientRect();
    const place = one.closest('.cell, section').getBoundingClientRect();
    return box.width && (box.bottom > place.bottom + 1 || box.top < place.top - 1
      || box.right > place.right + 1 || box.left < place.left - 1);
  }).map(one => one.textContent || one.className)"""
HOUSE = SignParameters(house="Grand Harbour", limits="$10 to $500", bets_s=30.0)
OF_STAFF = re.compile(r"\bdan\b|\bfay\b|\bdecide\b|\binspect\b|in-view|settled \(|key |`|systemctl")


@dataclass
class Walls:
    """A page, and the view that it shows."""

    page: Page
    address: str

    def show(self, table: Seated) -> None:
        view = view_of(table) | {"monotonic_s": time.monotonic()}
        view["marks"] = ["DEMONSTRATION", "automatic entry and pacing by the table: the house"]
        self.page.watch.view, self.page.watch.trouble = view, ""
        self.page._heard()
        self.page._regions._wake()


@pytest.fixture(scope="module")
def walls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walls]:
    folder = tmp_path_factory.mktemp("walls")
    scribe = Scribe(folder / "journal.jsonl")
    for number in range(1, ROUNDS + 1):
        scribe.round(number, (2, 2, 6) if number % 5 else None)
    scribe.close()
    page = made_page(folder, HOUSE, login=False)
    page.watch.age_s = lambda: 0.1  # type: ignore[method-assign] # posed, and not late
    with served(page) as address:
        yield Walls(page, f"{address}/sign")


@pytest.fixture(scope="module")
def seen(chromium: Any, walls: Walls) -> dict[tuple[str, str, str], dict[str, Any]]:
    """(moment, size, language) to what a browser made of it; leaves a picture of each."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    tables = {moment: made() for moment, (made, _says, _call) in MOMENTS.items()}
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for size, language in DRAWN:
        width, height = SIZES[size]
        look = "light" if size == "desk" else "dark"
        viewport = {"width": width, "height": height}
        context = chromium.new_context(viewport=viewport, color_scheme=look, locale=language)
        tab = context.new_page()
        for moment, table in tables.items():
            walls.show(table)
            tab.goto(walls.address, wait_until="domcontentloaded")
            tab.screenshot(path=SHOTS / f"sign-{moment}-{size}-{language}.png")
            found[moment, size, language] = {
                "life": tab.locator(".state .life").inner_text().strip(),
                "call": " ".join(tab.locator(".call strong").all_inner_texts()),
                "dice": tab.locator(".result .dice use").evaluate_all(
                    "all => all.map(one => one.getAttribute('href').slice(-1)).join('')"
                ),
                "words": tab.locator("main").inner_text(),
                "shape": tab.locator(".state .life").get_attribute("class"),
                "boxes": tab.evaluate(_BOXES),
                "cut off": tab.evaluate(_CUT_OFF),
                "barriers": violations(tab) if size == "desk" else [],
                "broad": tab.evaluate("document.documentElement.scrollWidth") - width,
            }
        context.close()
    return found


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_sign_says_what_the_room_may_know(seen: Any, moment: str) -> None:
    _made, says, call = MOMENTS[moment]

    sign = seen[moment, "wall", "en"]

    assert (sign["life"], sign["call"]) == (says, call)
    assert OF_STAFF.search(sign["words"]) is None
    digits = {"result": "".join(map(str, READ)), "between": "226", "closed": "000"}
    expected = "" if call else digits.get(moment, "000")
    assert sign["dice"] == expected
    assert ("circle" in sign["shape"]) == (moment in ("between", "betting", "result"))


@pytest.mark.parametrize(("size", "language"), DRAWN)
def test_nothing_moves_and_nothing_is_cut_off(seen: Any, size: str, language: str) -> None:
    of_size = {moment: seen[moment, size, language] for moment in MOMENTS}
    scenes = (DICE, set(MOMENTS) - DICE - {"tossing"})

    for scene in scenes:
        assert len({tuple(of_size[moment]["boxes"]) for moment in scene}) == 1, of_size
    assert {moment: one["cut off"] for moment, one in of_size.items() if one["cut off"]} == {}
    assert all(one["broad"] <= 0 for one in of_size.values())
    assert {moment: one["barriers"] for moment, one in of_size.items() if one["barriers"]} == {}


def test_no_more_bets_and_the_result_are_heard_where_the_house_wants_it(
    chromium: Any, walls: Walls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walls.page, "_house", SignParameters(sound=True))
    tab = chromium.new_context().new_page()
    tab.add_init_script(
        "window.heard = 0; const real = AudioContext; window.AudioContext = class extends real {"
        "  constructor() { super(); window.heard += 1; } };"
    )
    walls.show(betting())
    tab.goto(walls.address, wait_until="domcontentloaded")
    tab.wait_for_selector("[data-sound=tones]", timeout=10_000)

    for count, moment in enumerate((tossing(), typed("1 4 4")), start=1):
        walls.show(moment)
        until(lambda: tab.evaluate("window.heard") == count, limit_s=20)  # noqa: B023
    tab.context.close()
