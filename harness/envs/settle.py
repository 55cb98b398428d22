"""Wait until a page is quiet: document parsed, no request in flight, no DOM change for a moment. With a cap, no fixed sleep.

BrowserGym sleeps 0.5 s before every observation; most pages are quiet after a few milliseconds, and some (clocks, spinners)
never are: those get the `slow` flag, so that a reader of the result knows the tree may have been in motion.

What a page did is known from a mutation observer that stays in its main document. Marking must not count as the page's doing:
WATCH_JS calls `flush` before it writes (what the page did until then counts), it calls `forget` after (what we did does not).
"""

from __future__ import annotations

import time

from playwright.sync_api import Error as PlaywrightError

from harness.envs.pages import Pages

POLL_MS = 10

# Defines `watch`, which a new document gets with the first script of ours that looks at it. `version` names a state of the page
# as far as it can be seen from here: the DOM, what forms hold, focus, scrolling. It is empty where more could move unseen, and
# for large pages: there a second look costs more than the wait that it saves.
WATCH_JS = """
    const watch = window.__harness_watch ??= (() => {
        const made = {changes: 0, last: performance.now()};
        const note = () => { made.changes++; made.last = performance.now(); };
        const observer = new MutationObserver(note);
        observer.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
        made.flush = () => { if (observer.takeRecords().length) note(); };
        made.forget = () => { observer.takeRecords(); };
        return made;
    })();
    watch.flush();
"""
VERSION_JS = """
    const version = (() => {
        try {
            const all = document.getElementsByTagName('*').length;
            if (all > 2000 || document.querySelector('canvas, video, iframe, frame, embed, object')) return '';
            if (document.getAnimations().some((animation) => animation.playState === 'running')) return '';
            let hash = 0;
            for (const field of document.querySelectorAll('input, textarea, select, option')) {
                const held = `${field.value}\\n${field.checked}${field.selected}`;
                for (let i = 0; i < held.length; i++) hash = (Math.imul(hash, 31) + held.charCodeAt(i)) | 0;
            }
            const focused = document.activeElement ? document.activeElement.getAttribute('bid') : '';
            return [performance.timeOrigin, watch.changes, hash, focused, scrollX, scrollY].join(' ');
        } catch (error) {
            return '';  // a page that breaks these functions is looked at twice
        }
    })();
"""

# Resolves to true once nothing changed for `quiet` ms and `rest` ms are over; to false when `cap` ms are.
_QUIET_JS = (
    """([quiet, rest, cap]) => {"""
    + WATCH_JS
    + """
    const began = performance.now();
    return new Promise((resolve) => {
        const look = () => {
            watch.flush();
            const now = performance.now();
            const left = Math.max(began + rest, watch.last + quiet) - now;
            if (left <= 0) resolve(document.readyState !== 'loading');
            else if (now + left > began + cap) resolve(false);
            else setTimeout(look, left);
        };
        setTimeout(look, 0);  // after any timer of the page that is due already
    });
}"""
)


def settle(pages: Pages, *, since: float, quiet_seconds: float, cap_seconds: float) -> bool:
    """Wait until the active page has been quiet for `quiet_seconds` after the last of: `since` (`time.monotonic`, the end of
    the action), a DOM change, the end of a request. A navigation in between starts the wait anew, within the cap.
    Returns False if the page was still busy at the cap."""
    deadline = time.monotonic() + cap_seconds
    while (left := deadline - time.monotonic()) > 0:
        page = pages.active
        try:
            page.wait_for_load_state("domcontentloaded", timeout=left * 1000)
            if pages.busy() or pages.opening():
                page.wait_for_timeout(POLL_MS)
                continue
            start = max(since, pages.last_request_end)
            rest = start + quiet_seconds - time.monotonic()
            cap = max(left, quiet_seconds)
            quiet = page.evaluate(_QUIET_JS, [quiet_seconds * 1000, rest * 1000, cap * 1000])
        except PlaywrightError:  # the page navigated, closed or is still loading: look again
            if page.is_closed() or page is not pages.active:
                continue
            pages.active.wait_for_timeout(POLL_MS)
            continue
        if quiet and page is pages.active and not pages.busy() and not pages.opening() and pages.last_request_end <= start:
            return True
    return False
