"""TLS for every socket of a collection: contexts of the caller, or certificates in files.

A collection runs without TLS if no context is given. Then nothing is encrypted, and only the messages between
two partners are authenticated, by their pair's secret.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import final

from dither.errors import InvalidParameter


@final
@dataclass(frozen=True)
class DeviceTLS:
    """The contexts of a device's sockets; None means a plain socket.

    servers     for connections to the dealer or the three servers, and to the collector
    partner     for the connection to the partner, if this device is the first of the two
    listener    for connections from the partner, if this device is the second

    Devices are reached at IP addresses. If their certificates do not contain these, set `check_hostname` of
    `partner` to False: the pair's secret already shows that the other device is the partner.
    """

    servers: ssl.SSLContext | None = None
    partner: ssl.SSLContext | None = None
    listener: ssl.SSLContext | None = None


@final
@dataclass(frozen=True)
class Certificates:
    """Files in PEM: a certificate, its private key, and the authority that signs everybody's certificates."""

    certificate: Path
    key: Path
    authority: Path

    def client(self, *, check_hostname: bool = True) -> ssl.SSLContext:
        """Return a context for connections that are opened: both sides show a certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = check_hostname
        return self._loaded(context)

    def server(self) -> ssl.SSLContext:
        """Return a context for connections that are accepted: both sides show a certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.verify_mode = ssl.CERT_REQUIRED
        return self._loaded(context)

    def device(self) -> DeviceTLS:
        """Return the contexts of a device; the name in the partner's certificate is not checked."""
        return DeviceTLS(self.client(), self.client(check_hostname=False), self.server())

    def _loaded(self, context: ssl.SSLContext) -> ssl.SSLContext:
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self.certificate, self.key, password="")
            context.load_verify_locations(self.authority)
        except (OSError, ValueError):  # an SSLError is an OSError; its text could quote the key's file
            raise InvalidParameter(
                "the certificate, its key without a password, or the authority cannot be read as PEM files"
            ) from None
        return context
