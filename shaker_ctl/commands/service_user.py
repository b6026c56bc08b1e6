"""Acting as the service's user: what root does to the table's files, the service must be able to
use.

Owns the change of user. A remedy that is run by root, as pages and people run it, would otherwise
leave files that the service may not write, or follow a link that somebody planted in its folders.
"""

from __future__ import annotations

import contextlib
import os
import pwd
from pathlib import Path

from shaker_ctl.installation.places import USER


def become_owner_of(folder: Path) -> None:
    """As root, take the user and groups of whoever owns a folder of the table's, for good.

    Nothing happens for anybody else, and where the folder is root's or is not there.
    """
    if os.geteuid() != 0:
        return
    try:
        owner = folder.stat().st_uid
        user = pwd.getpwuid(owner)
    except (OSError, KeyError):
        return
    if owner != 0:
        _become(user)


def become_the_service() -> None:
    """As root on an installed table, take the service's user and groups, for good."""
    if os.geteuid() != 0:
        return
    with contextlib.suppress(KeyError):
        _become(pwd.getpwnam(USER))


def _become(user: pwd.struct_passwd) -> None:
    os.initgroups(user.pw_name, user.pw_gid)
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)
