"""Settings of the link: a file of its own, so that no line in it can keep a table from starting."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from pydantic import Field, field_validator

from shaker_ctl.link.topics import require_name
from shaker_ctl.parameters import Parameters, bounded


class BrokerParameters(Parameters):
    """Which broker, and who we are there. Always TLS 1.3, with a certificate at both ends."""

    host: str = "localhost"
    """Name of the broker as its certificate has it."""

    hosts: tuple[str, ...] = ()
    """Instead of `host`: brokers that `shaker-floor broker --peer` joins, HOST or HOST:PORT, tried
    in turn."""

    port: int = Field(default=8883, ge=1, le=65535)
    """Port of the broker."""

    authority: Path = Path("/etc/shaker-link/authority.pem")
    """Certificate of whoever signed the broker's certificate."""

    certificate: Path = Path("/etc/shaker-link/certificate.pem")
    """Our certificate. Its common name is the name that the broker knows us by."""

    key: Path = Path("/etc/shaker-link/key.pem")
    """Its private key. Readable by the service's user alone."""

    site: str = "house"
    """Name of the house on the broker: a-z, 0-9 and -."""

    @field_validator("site")
    @classmethod
    def _fits_a_topic(cls, site: str) -> str:
        return require_name(site, "site")


class LinkParameters(BrokerParameters):
    """One table's link to its floor."""

    FILE: ClassVar[str] = "link"

    table: str = "table-1"
    """Name of the table on the broker, and the common name of its certificate: a-z, 0-9 and -."""

    settings: Path = Path("/etc/shaker-ctl/settings.toml")
    """Settings file of the table: where its journal, pictures and status socket are."""

    runtime_dir: Path = Path("/run/shaker-link")
    """Folder of `floor.json`, in which the link says how it stands with the floor."""

    again_s: float = bounded(5.0, at_least=0.5, at_most=300.0)
    """Seconds without an acknowledgement after which records are sent again; each further time it
    waits twice as long, up to a minute. Lower: repeats at a slow floor; higher: later recovery."""

    home_assistant: bool = False
    """Whether the table makes itself known to Home Assistant by MQTT discovery, on the same broker.
    """

    @field_validator("table")
    @classmethod
    def _fits_a_topic_too(cls, table: str) -> str:
        return require_name(table, "table")
