"""Where a model server is, and whether that is this machine."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

from itza_git.errors import ConfigError

DEFAULT_PORT = 11434
DEFAULT_OPENAI_PORT = 8080
ALLOW_REMOTE = "git config itza.allowRemote true"

_SCHEME_PORTS = {"http": 80, "https": 443}
_HOST_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?")
# Addresses to listen at on every interface; as addresses to connect to they mean this machine, on some systems only.
_BIND_ADDRESSES = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def ollama_url(value: str | None) -> str:
    """The base URL that a value of OLLAMA_HOST means, always with scheme and port: `http://127.0.0.1:11434`.

    Takes every form that Ollama takes: nothing, `host`, `host:port`, `:port`, an IPv6 address with or without
    brackets, a URL with or without path; spaces and quotes around it do not count. Raises `ConfigError`.
    """
    return _url(value, DEFAULT_PORT)


def openai_url(value: str | None) -> str:
    """The base URL of an OpenAI-compatible server, in the same forms; one without a path gets the usual `/v1`."""
    url = _url(value, DEFAULT_OPENAI_PORT)
    return url if urlsplit(url).path else f"{url}/v1"


def _url(value: str | None, default_port: int) -> str:
    text = (value or "").strip().strip("\"'").strip()
    scheme, separator, rest = text.partition("://")
    if not separator:
        scheme, rest = "http", text
    scheme = scheme.lower()
    if scheme not in _SCHEME_PORTS:
        raise ConfigError(f"not the address of a model server: {value}", "write host:port or http://host:port")
    address, slash, path = rest.partition("/")
    if not re.fullmatch("[!-~]*", path):
        raise ConfigError(f"not the address of a model server: {value}", "write host:port or http://host:port")
    host, port = _host_and_port(address, value)
    if not separator and host == "ollama.com":
        # Ollama's own client does the same for its cloud.
        scheme, port = "https", port or 443
    port = port or (_SCHEME_PORTS[scheme] if separator else default_port)
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}:{port}{slash}{path}".rstrip("/")


def _host_and_port(address: str, value: str | None) -> tuple[str, int | None]:
    """The two parts; the host is checked by characters, so that no other reader of the URL sees another host."""
    if _is_ipv6(address):
        host, port = address, ""
    else:
        found = re.fullmatch(r"(?:\[(?P<v6>[^\]]*)\]|(?P<host>[^:]*))(?::(?P<port>[0-9]*))?", address)
        if found is None:
            raise ConfigError(f"not a host and port: {value}", "write host:port or http://host:port")
        host, port = found["v6"] or found["host"] or "127.0.0.1", found["port"] or ""
        if not (_is_ipv6(host) if found["v6"] else _HOST_NAME.fullmatch(host)):
            raise ConfigError(f"not a host: {value}", "write host:port or http://host:port")
    if port and not 0 < int(port) < 65536:
        raise ConfigError(f"not a port: {value}", "write host:port with a port of 1 to 65535")
    return _BIND_ADDRESSES.get(host, host), int(port) if port else None


def _is_ipv6(text: str) -> bool:
    try:
        return isinstance(ipaddress.ip_address(text), ipaddress.IPv6Address)
    except ValueError:
        return False


def is_loopback(url: str) -> bool:
    """Whether the URL's host is this machine by its very name or address; nothing is resolved."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def check_local(url: str, allow_remote: bool) -> None:
    """Nothing, or `ConfigError` when the URL's host is not this machine and remote use is not allowed."""
    if not allow_remote and not is_loopback(url):
        host = urlsplit(url).hostname or url
        raise ConfigError(f"the model server is not on this machine, your code would leave it: {host}", ALLOW_REMOTE)


def check_model_local(model: str, allow_remote: bool) -> None:
    """Nothing, or `ConfigError` for a model that a local Ollama would run in its maker's cloud."""
    tag = model.rpartition(":")[2] if ":" in model else ""
    if not allow_remote and (tag == "cloud" or model.endswith("-cloud")):
        raise ConfigError(f"the model runs in a cloud, your code would leave this machine: {model}", ALLOW_REMOTE)
