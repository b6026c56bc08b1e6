"""`/metrics` for Prometheus: every table of this collector, and the collector itself.

Owns names and meaning of the figures. No name of a person and no result is among them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Histogram, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector as Source

from shaker_ctl.floor.collector import Collector
from shaker_ctl.floor.tables import ShownTable

_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600)

_GAUGES = {
    "shaker_table_online": "1 while the table's link is connected",
    "shaker_table_service": "1 while the table's service runs",
    "shaker_table_open": "1 while the table is open for play",
    "shaker_table_heard_seconds": "Seconds since the table last said anything",
    "shaker_table_behind_records": "Records that the floor has not committed",
    "shaker_table_second_copy_good": "1 while the table's second journal copy is equal, or none is",
    "shaker_table_dice_left_seconds": "Seconds until the dice are too old",
    "shaker_table_lamps_broken": "Areas whose bulb measures otherwise than commanded",
    "shaker_table_temperature_celsius": "Temperature of the table's computer",
    "shaker_table_throttled": "1 while the table's computer has undervoltage or is throttled",
    "shaker_table_disk_free_bytes": "Free space on the table's journal medium",
    "shaker_table_clock_trusted": "1 while the table trusts its wall clock",
    "shaker_table_version_other": "1 where another version runs than the floor named",
    "shaker_table_refused_messages": "Messages of the table that were none of ours",
}


class Figures(Source):
    """What Prometheus reads. Asked from the server's threads; only reads what is there."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    def collect(self) -> Iterator[Any]:
        """Yield everything as of now."""
        c = self._collector
        yield _gauge("shaker_floor_broker_connected", "1 while the broker is there", c.is_connected)
        for name, help_text, count in (
            ("messages", "Messages of tables", c.counts.messages),
            ("refused", "Messages that no table sends", c.counts.refused),
            ("records", "Records committed", c.counts.records),
            ("repeats", "Records that came again and were recognised", c.counts.repeats),
            ("commits", "Transactions", c.counts.commits),
            ("store_failures", "Times that the database refused", c.counts.store_failures),
        ):
            yield CounterMetricFamily(f"shaker_floor_{name}", help_text, value=count)
        silence = time.monotonic() - c.counts.heard_s if c.counts.heard_s else 0.0
        yield _gauge("shaker_floor_silence_seconds", "Since any message came", silence)
        families = {
            name: GaugeMetricFamily(name, help_text, labels=["table"])
            for name, help_text in _GAUGES.items()
        }
        faults = GaugeMetricFamily("shaker_table_fault", "A fault stands", labels=["table", "code"])
        histories = GaugeMetricFamily(
            "shaker_table_history_alarm",
            "The table's history contradicts the floor's; a named person accepts it",
            labels=["table", "trouble"],
        )
        versions = GaugeMetricFamily(
            "shaker_table_version", "What runs", labels=["table", "version", "software"]
        )
        for name, table in c.shown().items():
            for figure, value in self._of(table).items():
                if value is not None:
                    families[figure].add_metric([name], float(value))
            for code in list(table.alarms):
                faults.add_metric([name, code], 1.0)
            if (birth := table.birth) is not None:
                software = birth["digests"].get("software", "")
                versions.add_metric([name, birth["version"], software], 1.0)
        for table_name, trouble in c.histories().items():
            histories.add_metric([table_name, trouble], 1.0)
        rounds = CounterMetricFamily(
            "shaker_table_rounds",
            "Rounds committed, by ending and by whose word their values rest on",
            labels=["table", "ending", "source"],
        )
        for labels, number in list(c.counts.rounds.items()):
            rounds.add_metric(list(labels), number)
        yield from families.values()
        yield rounds
        yield faults
        yield histories
        yield versions

    def _of(self, table: ShownTable) -> dict[str, float | bool | None]:
        state: Mapping[str, Any] = table.state
        health, dice = state.get("health", {}), state.get("dice", {})
        second = state.get("journal", {}).get("second_copy")
        named = self._collector.named.get(table.place.table)
        throttled, trust = health.get("throttled"), health.get("clock_trust")
        broken = state.get("broken_lamps")
        return {
            "shaker_table_online": table.is_online,
            "shaker_table_service": state["service"],
            "shaker_table_open": table.life == "open",
            "shaker_table_heard_seconds": time.monotonic() - table.heard_s,
            "shaker_table_behind_records": table.behind,
            "shaker_table_second_copy_good": second and second in ("equal", "none"),
            "shaker_table_dice_left_seconds": dice.get("left_s"),
            "shaker_table_lamps_broken": None if broken is None else len(broken),
            "shaker_table_temperature_celsius": health.get("temperature_c"),
            "shaker_table_throttled": None if throttled is None else bool(throttled),
            "shaker_table_disk_free_bytes": health.get("disk_free_b"),
            "shaker_table_clock_trusted": None if not trust else trust != "none",
            "shaker_table_version_other": named is not None
            and (table.birth is None or table.birth["version"] != named["version"]),
            "shaker_table_refused_messages": table.refused,
        }


def serve(collector: Collector, host: str, port: int) -> Any:
    """Serve `/metrics`; return the server. Raises OSError where the address is taken."""
    registry = CollectorRegistry()
    registry.register(Figures(collector))
    age = Histogram(
        "shaker_floor_record_age_seconds",
        "Age of the newest record of each batch when it was committed, by the table's clock",
        registry=registry,
        buckets=_BUCKETS,
    )
    collector.counts.observe = age.observe
    server, _ = start_http_server(port, addr=host, registry=registry)
    return server


def _gauge(name: str, help_text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, help_text, value=float(value))
