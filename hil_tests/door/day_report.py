"""The day of a house in a few lines: python3 day_report.py https://FLOOR:8443 TOKEN [2026-11-28]

It needs Python alone, and a token for `machine`.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any

ENDINGS = ("settled", "settled_by_hand", "no_roll", "void", "not_started")


def got(floor: str, token: str, path: str) -> Any:
    """What the floor answers."""
    request = urllib.request.Request(floor + path, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def report(floor: str, token: str, day: str = "") -> Iterator[str]:
    """A line a table, then every round that did not end by itself."""
    found = got(floor, token, f"/day.json?day={day}")
    yield f"{found['day']}: {sum(one['rounds'] for one in found['tables'])} rounds"
    for one in found["tables"]:
        counts = ", ".join(f"{one[name]} {name}" for name in ENDINGS if one[name])
        yield f"{one['table']}: {one['rounds']} rounds, {counts}"
        for past in got(floor, token, f"/tables/{one['table']}/rounds.json")["rounds"]:
            if past["ending"] != "settled":
                values = " ".join(map(str, past["values"]))
                yield f"  {past['wall']} round {past['number']}: {past['ending']} {values}"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in report(*sys.argv[1:]))
