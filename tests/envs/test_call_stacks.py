"""Playwright gets the same call stacks as before, less the source lines."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from playwright._impl import _connection, _sync_base
from playwright.sync_api import Error as PlaywrightError

from harness.envs.call_stacks import make_call_stacks_cheap


def test_stacks_are_those_of_inspect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sync_base, "inspect", inspect)  # undone afterwards
    monkeypatch.setattr(_connection, "inspect", inspect)
    make_call_stacks_cheap()
    make_call_stacks_cheap()  # twice is once
    cheap: Any = _sync_base.inspect
    assert _connection.inspect is not inspect
    for ours, theirs in zip(cheap.stack(), inspect.stack(), strict=True):
        assert ours.frame is theirs.frame
        assert ours.function == theirs.function
        assert ours.frame.f_code.co_filename == ours.filename
    assert cheap.signature is inspect.signature


@pytest.mark.browser
def test_errors_still_name_the_call(page: Any) -> None:
    with pytest.raises(PlaywrightError, match=r"Page\.evaluate: "):
        page.evaluate("() => { throw new Error('no') }")
