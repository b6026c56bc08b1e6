"""The lamps of a Sic Bo layout and which of them three dice light, as the lamp box knows it.

Written from REGISTERS.md and the words of a layout file: the box is a second opinion only if it
shares no code with the controller. Must not know registers.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections import Counter
from collections.abc import Mapping
from itertools import combinations, combinations_with_replacement
from pathlib import Path
from typing import Any

FACES = range(1, 7)
AREAS = (
    *("small", "big", "even", "odd", "any-triple"),
    *(f"triple-{face}" for face in FACES),
    *(f"double-{face}" for face in FACES),
    *(f"pair-{low}-{high}" for low in FACES for high in range(low + 1, 7)),
    *(f"total-{total}" for total in range(4, 18)),
    *(f"one-{face}" for face in FACES),
)

LAMP = {area: lamp for lamp, area in enumerate(AREAS)}
EVEN_ODD_LAMPS = 1 << LAMP["even"] | 1 << LAMP["odd"]


def winning_lamps(
    values: tuple[int, int, int], *, areas: int, double_on_triple: bool, even_odd_on_triple: bool
) -> int:
    """Return the mask of lamps that `values` light on a layout of 50 or 52 areas."""
    counts = {face: values.count(face) for face in FACES}
    total = sum(values)
    triple = next((face for face, count in counts.items() if count == 3), None)
    names = [f"one-{face}" for face, count in counts.items() if count]
    names += [f"double-{face}" for face, count in counts.items() if count == 2]
    names += [f"pair-{a}-{b}" for a, b in combinations(FACES, 2) if counts[a] and counts[b]]
    if total not in (3, 18):
        names.append(f"total-{total}")
    if triple is None:
        names.append("small" if total < 11 else "big")
    else:
        names += ["any-triple", f"triple-{triple}"]
        if double_on_triple:
            names.append(f"double-{triple}")
    if areas == 52 and (triple is None or even_odd_on_triple):
        names.append("odd" if total % 2 else "even")
    return sum(1 << LAMP[name] for name in names)


OwnAreas = Mapping[str, Mapping[str, Any]]
"""Areas of a house, as its layout file has them."""


def own_areas(file: Path | None) -> OwnAreas:
    """Return the areas that a house's file adds; none without a file."""
    return {} if file is None else tomllib.loads(file.read_text("utf-8")).get("areas", {})


def own_lamps(own: OwnAreas, values: tuple[int, ...]) -> int:
    """Return the mask of a house's own areas that `values` light."""
    return sum(1 << area["lamp"] for area in own.values() if _is_shown(area, Counter(values)))


def _is_shown(area: Mapping[str, Any], shown: Counter[int]) -> bool:
    total = sum(shown.elements())
    least, most = area.get("total", (3, 18))
    lacks = Counter(area.get("shows", ())) - shown
    beside = set(shown) - set(area.get("among", FACES))
    odd = {"odd": 1, "even": 0}.get(area.get("parity", ""), total % 2)
    kinds = area.get("different", len(shown))
    return (
        least <= total <= most and not (lacks or beside) and (odd, kinds) == (total % 2, len(shown))
    )


def own_digest(own: OwnAreas) -> bytes:
    """Return the layout digest of REGISTERS.md, section 9."""
    results = combinations_with_replacement(FACES, 3)
    lamps = b"".join(own_lamps(own, values).to_bytes(8, "big") for values in results)
    return hashlib.sha256(lamps).digest()[:8] if own else bytes(8)


def names_of(mask: int) -> list[str]:
    """Return the areas of a mask, in the order of their lamps."""
    return [area for lamp, area in enumerate(AREAS) if mask >> lamp & 1]
