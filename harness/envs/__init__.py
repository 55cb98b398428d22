"""Real browsers: find a Chromium, keep it open, look at pages and act on them.

chromium.py   which Chromium, and what it says of itself
config.py     BrowserConfig: everything about a browser that can change a result
session.py    one Playwright driver and one browser, kept across episodes; a fresh context for each
pages.py      the open pages of an episode: which one is active, dialogs, popups, requests in flight
settle.py     wait until a page is quiet (no fixed sleeps); tell whether it changed since
marking.py    bids: BrowserGym's numbering, without what we do not use
axtext.py     Chrome's accessibility tree → BrowserGym's text
observe.py    page → Look → Observation; an early look is kept if nothing moved after it
locate.py     bid → element, or the reason why not
execute.py    Action → page, or an ActionError with a reason
browser.py    BrowserEnv: the Env made of all these
"""
