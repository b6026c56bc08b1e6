"""The house's own small certificate authority: its signature says who may speak at the broker.

Owns the files of certificates and keys. A house that has an authority of its own uses that one.
Only the common name decides who speaks: a table's name, `collector`, `page`, or a display's name.
"""

from __future__ import annotations

import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from shaker_ctl.certificates import begun, key_pem, named, new_key
from shaker_ctl.errors import RefusedError
from shaker_ctl.whole_file import mode, put

AUTHORITY_DAYS = 3650
DAYS = 825
"""How long a certificate holds."""
_NO_USAGE = dict.fromkeys(
    (
        *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment"),
        *("key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
    ),
    False,
)
_SIGNS = {"key_cert_sign": True, "crl_sign": True}


def begin(folder: Path, name: str) -> Path:
    """Make an authority in `folder`; return its certificate. Raises RefusedError where one is."""
    certificate, key_file = folder / "authority.pem", folder / "authority-key.pem"
    if key_file.exists() or certificate.exists():
        raise RefusedError(
            f"{folder} holds an authority already", remedy="Use it: shaker-floor issue NAME"
        )
    folder.mkdir(parents=True, exist_ok=True)
    key = new_key()
    subject = named(f"shaker floor {name}")
    made = (
        begun(subject, subject, key, AUTHORITY_DAYS, ca=True)
        .add_extension(x509.KeyUsage(**_NO_USAGE | _SIGNS), critical=True)
        .sign(key, hashes.SHA256())
    )
    put(key_file, key_pem(key))
    put(certificate, made.public_bytes(serialization.Encoding.PEM), mode(0o644))
    return certificate


def issue(folder: Path, name: str, target: Path, hosts: tuple[str, ...] = ()) -> list[Path]:
    """Make key and certificate for `name` in `target`; `hosts`: names of a server.

    Returns the files. Raises RefusedError where there is no authority, or files are there already.
    """
    try:
        signer = x509.load_pem_x509_certificate((folder / "authority.pem").read_bytes())
        signing = serialization.load_pem_private_key(
            (folder / "authority-key.pem").read_bytes(), password=None
        )
    except (OSError, ValueError) as error:
        raise RefusedError(
            f"no authority can be used in {folder}: {error}",
            remedy="shaker-floor authority makes one",
        ) from error
    assert isinstance(signing, ec.EllipticCurvePrivateKey)
    files = [target / "authority.pem", target / "certificate.pem", target / "key.pem"]
    if files[2].exists():
        raise RefusedError(f"{files[2]} is there already", remedy="Give another folder")
    target.mkdir(parents=True, exist_ok=True)
    key = new_key()
    made = begun(named(name), signer.subject, key, DAYS, ca=False)
    usage = [ExtendedKeyUsageOID.CLIENT_AUTH]  # a broker is a client of the one that it joins
    usage += [ExtendedKeyUsageOID.SERVER_AUTH] if hosts else []
    made = made.add_extension(x509.ExtendedKeyUsage(usage), critical=False)
    if hosts:
        made = made.add_extension(x509.SubjectAlternativeName([_host(h) for h in hosts]), False)
    signed = made.sign(signing, hashes.SHA256())
    put(files[2], key_pem(key))
    put(files[1], signed.public_bytes(serialization.Encoding.PEM), mode(0o644))
    put(files[0], (folder / "authority.pem").read_bytes(), mode(0o644))
    return files


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
