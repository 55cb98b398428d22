"""Wait until a page is quiet: document parsed, no request in flight, no DOM change for a moment. With a cap, no fixed sleep.

BrowserGym sleeps 0.5 s before every observation; most pages are quiet after a few milliseconds, and some (clocks, spinners)
never are: those get the `slow` flag, so that a reader of the result knows the tree may have been in motion.
"""

from __future__ import annotations

import time

from playwright.sync_api import Error as PlaywrightError

from harness.envs.pages import Pages

# Resolves true once no mutation happened for `quiet` ms, false when `cap` ms are over. Our own attributes do not count.
_QUIET_JS = """([quiet, cap]) => new Promise((resolve) => {
    let timer = null;
    const finish = (value) => { observer.disconnect(); clearTimeout(timer); clearTimeout(limit); resolve(value); };
    const restart = () => { clearTimeout(timer); timer = setTimeout(() => finish(document.readyState !== 'loading'), quiet); };
    const observer = new MutationObserver(restart);
    const limit = setTimeout(() => finish(false), cap);
    observer.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
    restart();
})"""


def settle(pages: Pages, *, quiet_seconds: float, cap_seconds: float) -> bool:
    """Returns False if the page was still busy at the cap. A navigation in between starts the wait anew, within the cap."""
    deadline = time.monotonic() + cap_seconds
    while (left := deadline - time.monotonic()) > 0:
        page = pages.active
        try:
            page.wait_for_load_state("domcontentloaded", timeout=left * 1000)
            quiet = page.evaluate(_QUIET_JS, [quiet_seconds * 1000, max(left, quiet_seconds) * 1000])
        except PlaywrightError:  # the page navigated, closed or is still loading: look again
            if page.is_closed() or page is not pages.active:
                continue
            pages.active.wait_for_timeout(10)
            continue
        if quiet and page is pages.active and not pages.busy():
            return True
    return False
