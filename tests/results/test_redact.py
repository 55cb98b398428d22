"""Secrets never reach a run directory: planted everywhere a run could pick one up, then looked for in every byte."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.types import Action, ActionError, Episode, ErrorInfo, Observation
from results.redact import REDACTED, Redactor
from results.store import RunStore
from tests.results.factory import PNG, episode, manifest, plan, step, task

PASSWORD = 'hunter2-"quoted"\\secret&<x>'
API_KEY = "key-3f9c77aa10b2"
SHORT = "pw4!"
COOKIE = "sessionid-77f1c0ffee"
ENV = {"MY_MODEL": API_KEY, "SHOP_PASSWORD": PASSWORD, "GITLAB_TOKEN": SHORT, "HOME": "/home/someone", "OTHER_KEY": "EMPTY"}
CONFIG = {
    "policy": {"base_url": "http://user:pa55word@host.test/v1", "api_key_env": "MY_MODEL", "max_tokens": 512},
    "sites": {"shop": {"username": "emma", "password": "abc"}},
    "cookies": [{"name": "sid", "value": COOKIE}],
}


def planted(spec_episode: Episode) -> Episode:
    """An episode with secrets in every kind of field."""
    typed = Action(name="fill", arguments={"bid": "7", "value": PASSWORD, PASSWORD: 1}, raw=f'fill("7", {PASSWORD!r})')
    first = step(0, action=typed, error=ActionError(kind="other", message=f"cannot type {PASSWORD}"), text=f"I type {SHORT}.")
    page = Observation(
        url=f"http://shop.test/login?pass={quote(PASSWORD, safe='')}",
        title=f"Hi {API_KEY}",
        axtree=f"[7] textbox 'Password' value={PASSWORD!r}\n[8] textbox {json.dumps(PASSWORD)}",
    )
    second = step(1, prompt=({"role": "user", "content": f"key {API_KEY}"},), token_ids=(1, 2), prompt_token_ids=(3,)).model_copy(
        update={"observation": page, "metadata": {"headers": [f"Cookie: a=1; sid={COOKIE}"]}}
    )
    error = ErrorInfo(
        boundary="policy",
        kind="http_4xx",
        message=f"401 for {API_KEY}",
        traceback=f"Authorization: Bearer {'x1' * 20}\nhttp://u:{'p' * 9}@h.test/",
    )
    return spec_episode.model_copy(
        update={
            "trajectory": spec_episode.trajectory.model_copy(update={"steps": (first, second), "answer": PASSWORD}),
            "verdict": spec_episode.verdict.model_copy(
                update={"error": error, "evidence": {"request": {"api": [API_KEY, {"deep": PASSWORD}]}}}
            ),
            "notes": (f"logged in with {COOKIE}",),
        }
    )


def everything_under(directory: Path) -> bytes:
    parts = []
    for path in sorted(directory.rglob("*")):
        parts.append(str(path).encode())
        if path.is_file():
            data = path.read_bytes()
            parts.append(gzip.decompress(data) if path.suffix == ".gz" else data)
    return b"\n".join(parts)


def test_no_planted_secret_is_in_any_byte_of_the_run(tmp_path: Path) -> None:
    specs = plan([task("a", metadata={"login": PASSWORD})])
    redactor = Redactor.from_config(CONFIG, ENV, secrets=[COOKIE])
    header = manifest(specs, config=CONFIG, benchmark_options={"note": f"with {API_KEY}"})
    with RunStore.create(tmp_path / "run", header, specs, redactor) as store:
        store.record(planted(episode(specs[0], "error")), {"step-000.png": PNG})
    data = everything_under(tmp_path / "run")
    for secret in (PASSWORD, API_KEY, SHORT, COOKIE, "pa55word", "x1x1x1", "ppppp"):
        for form in (secret, quote(secret, safe=""), json.dumps(secret)[1:-1], json.dumps(json.dumps(secret)[1:-1])[1:-1]):
            assert form.encode() not in data, form
    assert b'"abc"' not in data, "a short password in the config is replaced by its key"
    assert data.count(REDACTED.encode()) >= 15
    assert b"emma" in data, "only secrets go"
    run = RunStore.open(tmp_path / "run")
    stored = run.episode("a__A__r0__a0")
    assert stored.trajectory.steps[0].output.action.arguments["bid"] == "7"
    assert stored.trajectory.steps[1].output.token_ids is None
    assert any("token ids were dropped" in note for note in stored.notes)
    assert run.unreadable() == {}
    assert run.manifest.config["policy"] == {
        "base_url": f"http://{REDACTED}@host.test/v1",
        "api_key_env": "MY_MODEL",
        "max_tokens": 512,
    }


def test_a_resume_compares_redacted_settings(tmp_path: Path) -> None:
    specs = plan([task("a")])
    header = manifest(specs, config=CONFIG)
    RunStore.create(tmp_path / "run", header, specs, Redactor.from_config(CONFIG, ENV)).close()
    RunStore.resume(tmp_path / "run", header, Redactor.from_config(CONFIG, ENV)).close()


def test_an_episode_without_secrets_is_stored_as_it_is(tmp_path: Path) -> None:
    specs = plan([task("a")])
    clean = episode(specs[0], steps=[step(0, token_ids=(1, 2), prompt_token_ids=(3,), logprobs=(-0.1, -0.2))])
    redactor = Redactor.from_config(CONFIG, ENV)
    assert not redactor.suspects(clean.model_dump_json())
    assert redactor.episode(clean) is clean
    with RunStore.create(tmp_path / "run", manifest(specs), specs, redactor) as store:
        store.record(clean, {})
        assert store.episode("a__A__r0__a0") == clean


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The demo of demopass is democratic", "The demo of <redacted> is democratic"),
        ("pin 1234 but not 12345 or x1234", "pin <redacted> but not 12345 or x1234"),
        ("a1b", "a1b"),
        ("EMPTY cart", "EMPTY cart"),
    ],
)
def test_short_values_match_whole_words_and_placeholders_stay(text: str, kept: str) -> None:
    assert Redactor(["demopass", "1234", "a1b", "EMPTY"]).text(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "The cookie: chocolate chip",
        "We use cookies: accept?",
        "bearer of bad news",
        "http://shop.test:8080/path?mail=me@x.test",
        "ask-me-anything about task-4",
        "12:30@noon",
    ],
)
def test_ordinary_page_text_is_left_alone(text: str) -> None:
    assert Redactor().text(text) == text


def test_names_that_only_sound_like_secrets_are_kept() -> None:
    config = {"max_tokens": 5, "token_budget": "4k", "monkey": "banana", "tokens": "x", "api_key_env": "K", "keys": ["Enter"]}
    assert Redactor.from_config(config, {}).config(config) == config


def test_statuses_and_keys_survive_a_secret_that_looks_like_them() -> None:
    spec = plan([task("success-task")])[0]
    clean = Redactor(["success", "success-task", "webarena"]).episode(episode(spec))
    assert clean.verdict.status == "success"
    assert clean.spec.key == spec.key
    Episode.model_validate_json(clean.model_dump_json())


@given(
    secret=st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=8, max_size=30),
    before=st.text(max_size=20),
    after=st.text(max_size=20),
)
def test_any_long_secret_is_found_in_any_spelling(secret: str, before: str, after: str) -> None:
    redactor = Redactor([secret])
    if secret in REDACTED or secret in before + after:
        return
    for form in (secret, quote(secret, safe=""), json.dumps(secret)[1:-1]):
        text = f"{before} {form} {after}"
        if secret.lower() in ("changeme",):
            continue
        assert form not in redactor.text(text)
        assert redactor.suspects(json.dumps({"x": text}, ensure_ascii=False))


def test_a_basic_header_is_caught_by_its_shape() -> None:
    encoded = base64.b64encode(b"user:" + API_KEY.encode()).decode()
    assert encoded not in Redactor([API_KEY]).text(f"sent Authorization: Basic {encoded}")
