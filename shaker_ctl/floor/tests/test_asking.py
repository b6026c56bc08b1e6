"""What is asked of tables, and how long it is remembered."""

from __future__ import annotations

import time

from shaker_ctl.floor.asking import GIVE_UP_S, Asked, Asking
from shaker_ctl.link.topics import Place


def test_what_nobody_answered_in_time_is_forgotten_with_the_next_request() -> None:
    asking, place = Asking(), Place("house", "pit-1")
    long_ago_s = time.monotonic() - GIVE_UP_S - 1.0
    asking.request(Asked(place, "picture", 1, "00" * 32, since_s=long_ago_s, parts=[b"a part"]))

    asking.request(Asked(place, "picture", 2, "11" * 32))

    assert [each.sequence for each in asking._asked.values()] == [2]
