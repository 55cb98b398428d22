"""Is an address still on the site of a task? Decides whose refusal a block is, and what counts as a redirect away."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

# second-level labels under which organisations register their names in two-letter domains (bbc.co.uk)
_SHARED_LABELS = frozenset(("ac", "co", "com", "edu", "gov", "net", "or", "org"))


def site_key(url: str) -> str:
    """The part of an address that names its owner: `www.bbc.co.uk` → `bbc.co.uk`; host and port for IPs and localhost.

    An approximation of the public suffix list, which is data that goes stale; empty for addresses without a host.
    """
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return ""
    if not host:
        return ""
    if "." not in host or _is_ip(host):
        return f"{host}:{port}" if port else host
    labels = host.split(".")
    shared = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SHARED_LABELS
    return ".".join(labels[-3:] if shared else labels[-2:])


def same_site(url: str, other: str) -> bool:
    """Do both addresses belong to one owner? Addresses without a host (about:blank, file:) are nobody else's."""
    key, other_key = site_key(url), site_key(other)
    return not key or not other_key or key == other_key


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
