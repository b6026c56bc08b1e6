"""The page's key and certificate, as an installation makes them.

Owns an act: a key of this computer, a certificate signed by itself, and a request that a house's
authority can sign. What is there already stays: a house puts its own certificate in its place.
"""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from shaker_ctl.certificates import begun, key_pem, named, new_key
from shaker_ctl.frozen import frozen
from shaker_ctl.installation.acts import InstallError, group_number
from shaker_ctl.whole_file import mode, put

CERTIFICATE, KEY, REQUEST = "certificate.pem", "key.pem", "request.pem"

DAYS = 800
"""How long the certificate holds: browsers take none of more than 825 days."""


@frozen
class MakeCertificate:
    """Have a key and a certificate in `folder`, the key readable by `group` alone."""

    folder: Path
    group: str

    @property
    def what(self) -> str:
        return f"make a key and a certificate for the page in {self.folder}"

    def is_done(self) -> bool:
        try:
            key = (self.folder / KEY).stat()
            return (self.folder / CERTIFICATE).exists() and key.st_gid == group_number(self.group)
        except OSError:
            return False

    def do(self) -> None:
        """Make what is missing. Raises InstallError."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not (self.folder / KEY).exists() or not (self.folder / CERTIFICATE).exists():
                self._make()
            for name, mode in ((KEY, 0o640), (CERTIFICATE, 0o644)):
                (self.folder / name).chmod(mode)
                shutil.chown(self.folder / name, group=self.group)
        except (OSError, LookupError) as error:
            raise InstallError(
                f"the page's certificate cannot be made in {self.folder}: {error}",
                remedy="Mend that and run it again",
            ) from error

    def _make(self) -> None:
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
        request = (
            x509.CertificateSigningRequestBuilder()
            .subject_name(name)
            .add_extension(names, critical=False)
            .sign(key, hashes.SHA256())
        )
        pem = serialization.Encoding.PEM
        put(self.folder / KEY, key_pem(key))
        put(self.folder / CERTIFICATE, certificate.public_bytes(pem), mode(0o644))
        put(self.folder / REQUEST, request.public_bytes(pem), mode(0o644))
