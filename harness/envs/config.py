"""Everything about a browser that can change a result is here, pinned, and written into the manifest."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from harness.types import Record


class BrowserConfig(Record):
    """`[browser]` of run.toml."""

    executable_path: str = ""
    """A Chromium binary; empty: an installed one, else Playwright's own."""
    viewport_width: int = Field(default=1280, ge=64, le=7680)
    """CSS pixels, for benchmarks that set no viewport of their own (MiniWoB++ does)."""
    viewport_height: int = Field(default=720, ge=64, le=4320)
    """CSS pixels, likewise."""
    device_scale_factor: float = Field(default=1.0, gt=0, le=4)
    """Pixels of a screenshot per CSS pixel."""
    locale: str = "en-US"
    """Language and formats that pages are told."""
    timezone_id: str = "UTC"
    """Time zone that pages see, an IANA name."""
    screenshots: Literal["all", "none"] = "all"
    """Keep a PNG of every observation, or none."""
    action_timeout_seconds: float = Field(default=3.0, gt=0)
    """How long an element may take to become actionable (visible, enabled, uncovered, still)."""
    navigation_timeout_seconds: float = Field(default=20.0, gt=0)
    """How long a page may take to answer when it is opened or gone back to."""
    quiet_seconds: float = Field(default=0.06, ge=0)
    """A page is settled when its DOM has not changed and no request was pending for this long."""
    settle_cap_seconds: float = Field(default=2.0, gt=0)
    """Stop waiting for a quiet page after this; the observation is then flagged `slow`."""
    clickable: bool = False
    """Also show what reacts to clicks without a role: `[12] generic, clickable`. Such elements (a <span> with a handler) have no
    line in BrowserGym's tree: an agent that reads the tree alone cannot click them. Off: that tree exactly."""
    max_elements: int = Field(default=6_000, ge=100)
    """Elements per frame that are read, in document order; the observation says how many were dropped beyond."""
    max_pages: int = Field(default=15, ge=1)
    """Popups beyond this many open pages are closed at once."""
    max_dialogs: int = Field(default=30, ge=1)
    """More alert/confirm/prompt dialogs than this in one episode count as an alert loop: an env error."""
    upload_root: str = ""
    """The only folder that upload_file may read; empty forbids uploads."""
    recycle_every: int = Field(default=50, ge=1)
    """Episodes after which a worker starts a fresh browser."""
