"""A web server for a scene, at a free port, without messages on the terminal."""

from __future__ import annotations

import contextlib
import errno
import io
import socket
from collections.abc import Iterator

import viser

PORTS_TRIED = 100


def start(host: str, port: int, label: str) -> viser.ViserServer:
    """Serves at `port` or, if that is in use, at the next free one; 0: any free port.

    Raises ValueError for a host that is not this machine, and OSError if no port is free.
    """
    if not 0 <= port <= 65535:
        raise ValueError(f"port: must be from 0 to 65535, got {port}")
    free = free_port(host, port)
    with quiet():
        return viser.ViserServer(host=host, port=free, label=label, verbose=False)


def stop(server: viser.ViserServer) -> None:
    with quiet():
        server.stop()


def free_port(host: str, port: int) -> int:
    try:
        addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ValueError(f'host "{host}" is not known: {error.strerror}') from None
    except UnicodeError:  # parts that are empty or too long for a host name
        raise ValueError(f'host "{host}" is not known: not a valid host name') from None
    if port == 0:
        port = any_port(host, addresses[0][0])
    last = min(port + PORTS_TRIED, 65536)
    for candidate in range(port, last):
        if all(is_free(family, address[0], candidate) for family, *_, address in addresses):
            return candidate
    raise OSError(
        f"no port from {port} to {last - 1} is free at {host}; choose another one with --port")


def any_port(host: str, family: socket.AddressFamily) -> int:
    with socket.socket(family) as probe:
        try:
            probe.bind((host, 0))
        except OSError as error:
            raise ValueError(f'host "{host}" is not this machine: {error.strerror}') from None
        return int(probe.getsockname()[1])


def is_free(family: socket.AddressFamily, address: str | int, port: int) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As the server does: a port with connections in TIME_WAIT can be used.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            if error.errno in {errno.EADDRINUSE, errno.EACCES}:
                return False
            raise ValueError(f'host "{address}" is not this machine: {error.strerror}') from None
        return True


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Suppresses messages of the server on starting and stopping."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield
