"""Product and rig do not import each other, but agree on what marks a real table (O-16)."""

from __future__ import annotations

from hil_tests.rig import lifetime
from shaker_ctl.installation import real_table


def test_the_rigs_list_of_marks_is_the_products():
    assert lifetime.REAL_TABLE == real_table.MARKS
