"""A pytest plugin for an emulated processor: property tests may take their time there.

Takes away limits of time only. What the tests ask of the code is as everywhere.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("slow", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("slow")
