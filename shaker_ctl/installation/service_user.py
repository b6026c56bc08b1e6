"""Acting as the service: what root finds or writes for a table is what the service meets.

Owns the change of user, and nothing of what is done then.
"""

from __future__ import annotations

import os
import pwd

from shaker_ctl.installation.places import USER


def become_the_service() -> None:
    """As root on an installed table: take the service's user, groups and rights, for good."""
    if os.geteuid() != 0:
        return
    try:
        user = pwd.getpwnam(USER)
    except KeyError:
        return
    os.initgroups(USER, user.pw_gid)
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)
