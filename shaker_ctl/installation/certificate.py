"""The page's key and certificate, as the set-up makes them.

Owns a key of this computer, and a certificate signed by itself. What is there already stays: a
house puts its own certificate in its place.
"""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from shaker_ctl.certificates import begun, key_pem, named, new_key
from shaker_ctl.installation.files import changing
from shaker_ctl.whole_file import mode, put

CERTIFICATE, KEY = "certificate.pem", "key.pem"

DAYS = 800
"""How long the certificate holds: browsers take none of more than 825 days."""


def have_pair(folder: Path, group: str | None) -> None:
    """Have a key and a certificate in `folder`, the key readable by `group` alone.

    Raises `SetupError`.
    """
    with changing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / KEY).exists() or not (folder / CERTIFICATE).exists():
            make_pair(folder)
        for name, bits in ((KEY, 0o640), (CERTIFICATE, 0o644)):
            (folder / name).chmod(bits)
            if group is not None:
                shutil.chown(folder / name, group=group)


def make_pair(folder: Path) -> None:
    """Make key and certificate anew."""
    host = socket.gethostname()
    name = named(host[:64])
    names = x509.SubjectAlternativeName(
        [x509.DNSName(one) for one in dict.fromkeys((host, f"{host.split('.')[0]}.local"))]
    )
    key = new_key()
    certificate = (
        begun(name, name, key, DAYS, ca=False)
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    put(folder / KEY, key_pem(key))
    put(folder / CERTIFICATE, certificate.public_bytes(serialization.Encoding.PEM), mode(0o644))
