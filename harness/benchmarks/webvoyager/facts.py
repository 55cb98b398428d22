"""Reading `PageFacts` off a live page. The page is hostile: whatever it answers is checked, and no answer is no facts."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Error as PlaywrightError

from harness.benchmarks.webvoyager.blocked import MAX_TEXT_CHARS, Frame, PageFacts, captcha_vendor

_READ = """limit => {
  const text = document.body ? document.body.innerText.slice(0, limit) : "";
  const frames = Array.from(document.querySelectorAll("iframe")).slice(0, 100).map(frame => {
    const box = frame.getBoundingClientRect(), style = getComputedStyle(frame);
    const shown = style.visibility === "visible" && Number(style.opacity) > 0;
    return [frame.src, shown ? box.width : 0, shown ? box.height : 0];
  });
  return {title: document.title, text, frames};
}"""


def read_facts(page: Any, status: int | None) -> PageFacts | None:
    """What the page shows now; None while it navigates, or after it closed. `status` is that of its document."""
    try:
        answer = page.evaluate(_READ, MAX_TEXT_CHARS)
        url = str(page.url)
        shadow_frames = _shadow_frames(page, known={str(f[0]) for f in _frames(answer)})
    except PlaywrightError:
        return None
    if not isinstance(answer, dict):
        return PageFacts(url=url, status=status)
    frames = tuple(Frame(str(src), float(width), float(height)) for src, width, height in _frames(answer))
    return PageFacts(
        url=url,
        title=_text(answer.get("title")),
        status=status,
        text=_text(answer.get("text")),
        frames=frames + shadow_frames,
    )


def _frames(answer: Any) -> list[list[Any]]:
    found = answer.get("frames") if isinstance(answer, dict) else None
    return [
        f
        for f in (found if isinstance(found, list) else [])
        if isinstance(f, list) and len(f) == 3 and isinstance(f[1], int | float) and isinstance(f[2], int | float)
    ]


def _shadow_frames(page: Any, known: set[str]) -> tuple[Frame, ...]:
    """Captcha frames that `querySelectorAll` does not see: Turnstile hides its own in a closed shadow root."""
    found = []
    for frame in page.frames:
        if frame.url not in known and captcha_vendor(frame.url):
            box = frame.frame_element().bounding_box() or {"width": 0.0, "height": 0.0}
            found.append(Frame(frame.url, box["width"], box["height"]))
    return tuple(found)


def _text(value: Any) -> str:
    return value[:MAX_TEXT_CHARS] if isinstance(value, str) else ""
