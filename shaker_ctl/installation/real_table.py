"""How a computer says that it is a real table, where nothing that can stage an outcome runs (O-16).

Owns the list of marks. The rig, which must not import this product, has its own copy of the list; a
test holds the two together.
"""

from __future__ import annotations

from pathlib import Path

MARKS = (
    "/etc/shaker-ctl/real-table",
    "/etc/shaker-ctl/seal.pub",
    "/etc/shaker-ctl/seal.json",
    "/etc/systemd/system/shaker-ctl.service",
    "/usr/local/lib/systemd/system/shaker-ctl.service",
    "/usr/lib/systemd/system/shaker-ctl.service",
    "/lib/systemd/system/shaker-ctl.service",
)
"""The mark of `setup`, a seal, or the unit wherever systemd looks for one."""


def mark(root: Path = Path("/")) -> Path | None:
    """Return the first mark that is there. A dangling link counts, and so does a folder that this
    user may not look into: somebody put it there.
    """
    for name in MARKS:
        path = root / name.lstrip("/")
        try:
            path.lstat()
        except PermissionError:
            return path.parent
        except OSError:
            continue
        return path
    return None
