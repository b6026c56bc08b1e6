"""`/metrics` for Prometheus: every table of a collector, and the collector itself.

Owns names and meaning of the figures. No name of a person and no result is among them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector as Source

from shaker_ctl.floor.tables import ShownTable

_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600)


class Figures:
    """What a collector counts, since its start, in `registry`."""

    def __init__(self, is_connected: Callable[[], bool]) -> None:
        disable_created_metrics()
        self.registry = CollectorRegistry()

        def counter(name: str, says: str, *labels: str) -> Counter:
            return Counter(name, says, labels, registry=self.registry)

        self.messages = counter("shaker_floor_messages", "Messages of tables of this house")
        self.refused = counter("shaker_floor_refused", "Messages that no table sends")
        self.records = counter("shaker_floor_records", "Records committed")
        self.repeats = counter("shaker_floor_repeats", "Records that came again")
        self.commits = counter("shaker_floor_commits", "Transactions")
        self.store_failures = counter("shaker_floor_store_failures", "The database refused")
        self.rounds = counter(
            "shaker_table_rounds",
            "Rounds committed, by ending and by whose word their values rest on",
            *("table", "ending", "source"),
        )
        self.age = Histogram(
            "shaker_floor_record_age_seconds",
            "Age of the newest record of each batch when it was committed, by the table's clock",
            registry=self.registry,
            buckets=_BUCKETS,
        )
        self.heard_s = 0.0
        """When a message last came, by the monotonic clock."""
        connected = Gauge(
            "shaker_floor_broker_connected", "1 while the broker is there", registry=self.registry
        )
        connected.set_function(is_connected)
        silence = Gauge(
            "shaker_floor_silence_seconds", "Since any message came", registry=self.registry
        )
        silence.set_function(lambda: time.monotonic() - self.heard_s if self.heard_s else 0.0)


class TableFigures(Source):
    """What Prometheus reads of tables. Asked from its threads; only reads what is there."""

    def __init__(
        self,
        shown: Callable[[], Mapping[str, ShownTable]],
        histories: Callable[[], Mapping[str, str]],
    ) -> None:
        """`histories`: tables whose history contradicts the floor's, and how."""
        self._shown, self._histories = shown, histories

    def collect(self) -> Iterator[Any]:
        """Yield everything as of now."""
        families: dict[str, GaugeMetricFamily] = {}
        faults = _family("fault", "A fault stands", "code")
        versions = _family("version", "What runs", "version", "software")
        histories = _family(
            "history_alarm",
            "The table's history contradicts the floor's; a named person accepts it",
            "trouble",
        )
        for name, table in self._shown().items():
            for figure, says, value in figures_of(table):
                family = families.setdefault(figure, _family(figure, says))
                if value is not None:
                    family.add_metric([name], float(value))
            for code in list(table.alarms):
                faults.add_metric([name, code], 1.0)
            if (birth := table.birth) is not None:
                software = birth["digests"].get("software", "")
                versions.add_metric([name, birth["version"], software], 1.0)
        for name, trouble in self._histories().items():
            histories.add_metric([name, trouble], 1.0)
        yield from (*families.values(), faults, histories, versions)


def figures_of(table: ShownTable) -> Iterator[tuple[str, str, float | bool | None]]:
    """Yield name, meaning and value of each figure of a table; None: not known."""
    state: Mapping[str, Any] = table.state
    health = state.get("health", {})
    second = state.get("journal", {}).get("second_copy")
    throttled, trust = health.get("throttled"), health.get("clock_trust")
    broken = state.get("broken_lamps")
    heard = time.monotonic() - table.heard_s
    yield "online", "1 while the table's link is connected", table.is_online
    yield "service", "1 while the table's service runs", state["service"]
    yield "open", "1 while the table is open for play", table.life == "open"
    yield "heard_seconds", "Seconds since the table last said anything", heard
    yield "behind_records", "Records that the floor has not committed", table.behind
    good = second and second in ("equal", "none")
    yield "second_copy_good", "1 while the second copy is equal, or none is", good
    yield "dice_left_seconds", "Until the dice are too old", state.get("dice", {}).get("left_s")
    count = None if broken is None else len(broken)
    yield "lamps_broken", "Areas whose bulb measures otherwise than commanded", count
    yield "temperature_celsius", "The table's computer", health.get("temperature_c")
    is_throttled = None if throttled is None else bool(throttled)
    yield "throttled", "1 while its computer has undervoltage or is throttled", is_throttled
    yield "disk_free_bytes", "On the table's journal medium", health.get("disk_free_b")
    trusted = trust != "none" if trust else None
    yield "clock_trusted", "1 while the table trusts its wall clock", trusted
    yield "refused_messages", "Messages of the table that were none of ours", table.refused


def _family(name: str, says: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"shaker_table_{name}", says, labels=["table", *labels])
