"""Every form of OLLAMA_HOST, and what counts as this machine."""

from __future__ import annotations

import pytest

from itza_git.errors import ConfigError
from itza_git.models.host import check_local, check_model_local, is_loopback, ollama_url


@pytest.mark.parametrize(
    ("value", "url"),
    [
        (None, "http://127.0.0.1:11434"),
        ("", "http://127.0.0.1:11434"),
        ("  ", "http://127.0.0.1:11434"),
        ("box", "http://box:11434"),
        ("box:80", "http://box:80"),
        (":1234", "http://127.0.0.1:1234"),
        ("127.0.0.1", "http://127.0.0.1:11434"),
        ("http://h", "http://h:80"),
        ("https://h", "https://h:443"),
        ("HTTP://h:8080", "http://h:8080"),
        ("http://h:8080/", "http://h:8080"),
        ("https://h/ollama", "https://h:443/ollama"),
        ("h:8080/proxy/ollama/", "http://h:8080/proxy/ollama"),
        ("::1", "http://[::1]:11434"),
        ("[::1]", "http://[::1]:11434"),
        ("[::1]:1234", "http://[::1]:1234"),
        ("http://[::1]:1234", "http://[::1]:1234"),
        (" 'box:1' ", "http://box:1"),
        ('"box:1"', "http://box:1"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:99", "http://127.0.0.1:99"),
        ("[::]:99", "http://[::1]:99"),
        ("::", "http://[::1]:11434"),
        ("ollama.com", "https://ollama.com:443"),
    ],
)
def test_ollama_host_in_all_its_forms(value: str | None, url: str) -> None:
    assert ollama_url(value) == url


@pytest.mark.parametrize(
    "value",
    [
        "ftp://box",
        "box:port",
        "box:0",
        "box:65536",
        "[box]:1",
        "box:1:2",
        # Two readers of one address must not see two hosts.
        "127.0.0.1@example.com",
        "http://127.0.0.1:80@example.com",
        "http://127.0.0.1\\@example.com",
        "http://127.0.0.1#@example.com",
        "127.0.0.1?x",
        "bo x",
        "h/pa th",
        "h\u00f6st",
    ],
)
def test_what_is_no_address_is_named(value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ollama_url(value)
    assert value in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize("host", ["localhost", "localhost.", "a.localhost", "127.0.0.1", "127.9.8.7", "[::1]"])
def test_loopback_is_this_machine(host: str) -> None:
    assert is_loopback(f"http://{host}:11434")
    check_local(f"http://{host}:11434", allow_remote=False)


def test_a_mapped_loopback_address_is_this_machine() -> None:
    assert is_loopback("http://[::ffff:127.0.0.1]:1")


@pytest.mark.parametrize(
    "host", ["example.com", "localhost.example.com", "127.0.0.1.example.com", "10.0.0.1", "[fe80::1]", "notlocalhost"]
)
def test_another_host_is_refused_by_name_unless_allowed(host: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_local(f"http://{host}:11434", allow_remote=False)
    assert host.strip("[]") in str(caught.value)
    assert caught.value.hint == "git config itza.allowRemote true"
    check_local(f"http://{host}:11434", allow_remote=True)


@pytest.mark.parametrize("model", ["gpt-oss:120b-cloud", "qwen3-coder:cloud", "some-cloud"])
def test_cloud_models_are_refused_by_name_unless_allowed(model: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_model_local(model, allow_remote=False)
    assert model in str(caught.value)
    check_model_local(model, allow_remote=True)


@pytest.mark.parametrize("model", ["qwen2.5-coder:7b", "cloud", "cloudy:latest", "hf.co/cloud/model:q4"])
def test_a_model_that_only_sounds_like_a_cloud_is_fine(model: str) -> None:
    check_model_local(model, allow_remote=False)
