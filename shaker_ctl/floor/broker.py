"""Configuration of mosquitto for one house: mutual TLS 1.3, and who may say what.

Owns what of the files in `mosquitto` differs between houses. Any MQTT 5 broker that takes a
client's name from its certificate and can hold it to topics does as well.
"""

from __future__ import annotations

from pathlib import Path
from string import Template

TEXTS = Path(__file__).parent / "mosquitto"


def write(
    out: Path, *, certificates: Path, site: str, port: int, address: str, peer: str = ""
) -> tuple[Path, Path]:
    """Write `mosquitto.conf` and `acl` into a folder; return both. `certificates`: folder of the
    broker's own; `peer`: HOST:PORT of a second broker, to which this one joins itself."""
    out.mkdir(parents=True, exist_ok=True)
    configuration, acl = out / "mosquitto.conf", out / "acl"
    given = {"certificates": certificates, "acl": acl, "site": site, "port": port}

    def text(name: str) -> str:
        template = Template((TEXTS / name).read_text("utf-8"))
        return template.substitute(given, address=address, peer=peer)

    bridge = text("bridge.conf") if peer else ""
    configuration.write_text(text("mosquitto.conf") + bridge, "utf-8")
    acl.write_text(text("acl"), "utf-8")
    acl.chmod(0o640)
    return configuration, acl
