"""Where a webhook may send: http and https, and no network behind the server's own walls. Knows no Django."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from statebase_site.webhooks.errors import AddressRefused

URL_MOST = 2048
"""Characters of a URL."""

# All public IPv6 hosts are in the first. In the second each address holds an IPv4 one that a gateway sends on
# to, which would have to be looked at, too.
_PUBLIC_6, _SIX_TO_FOUR = map(ipaddress.ip_network, ("2000::/3", "2002::/16"))
# Of the provider or of no host, though some versions of Python take them for public: the second is Azure's
# own address inside each of its machines.
_NOT_PUBLIC_4 = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "168.63.129.16/32")))
_LOCAL_NAMES = ("localhost", "local", "internal", "intranet", "lan", "home.arpa")

_WHAT_TO_DO = "Whoever runs this server can allow it with STATEBASE_WEBHOOK_PRIVATE_NETWORKS."


def check_url(url: str, *, private_allowed: bool) -> str:
    """The URL, if a webhook may have it. Raises `AddressRefused`.

    Names are looked up when something is sent, not here: then they may point elsewhere.
    """
    if len(url) > URL_MOST or not url.isascii() or not url.isprintable() or " " in url:
        raise AddressRefused(f"A URL has at most {URL_MOST:,} ASCII characters and no spaces.", param="url")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not host or port == 0:
        raise AddressRefused(
            "This is no URL that a webhook can be sent to.",
            param="url",
            suggestion="Give a whole one, such as https://example.org/hooks/statebase.",
        )
    if parts.username is not None or parts.password is not None:
        raise AddressRefused(
            "A URL with a user or password in it is stored and shown to others.",
            param="url",
            suggestion="Leave it out: what is sent is signed with the webhook's secret.",
        )
    if not private_allowed and _is_private_name(host):
        raise AddressRefused(f"{host} is inside a private network.", param="url", suggestion=_WHAT_TO_DO)
    return url


def open_addresses(host: str, port: int, *, private_allowed: bool) -> list[str]:
    """The IP addresses of a host; to be connected to instead of its name, so that none comes in between.

    Raises `AddressRefused` where one is in a private network, `OSError` where the name is not known.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    for address in addresses:
        if not private_allowed and is_private(address):
            raise AddressRefused(
                f"{host} is inside a private network ({address}).", param="url", suggestion=_WHAT_TO_DO
            )
    return addresses


def is_private(address: str) -> bool:
    """Whether an IP address is anything but a public host's."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped:
            ip = ip.ipv4_mapped
        elif ip not in _PUBLIC_6 or ip in _SIX_TO_FOUR:
            return True
    return not ip.is_global or ip.is_multicast or any(ip in network for network in _NOT_PUBLIC_4)


def _is_private_name(host: str) -> bool:
    name = host.rstrip(".")
    try:
        return is_private(_as_address(name))
    except ValueError:
        return any(name == local or name.endswith(f".{local}") for local in _LOCAL_NAMES)


def _as_address(name: str) -> str:
    """The older spellings of IPv4 addresses, such as 2130706433 or 0x7f.1, as the resolver reads them."""
    try:
        return socket.inet_ntoa(socket.inet_aton(name))
    except OSError:
        return name
