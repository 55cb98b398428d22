"""Bids: give every element an identifier that shows up in the accessibility tree.

The numbering is BrowserGym 0.14's (document order, one counter per document that goes on across observations; frames get
letters), and so is the carrier (`aria-roledescription` / `aria-description`, removed after extraction): the same page gives the
same bids and the same tree. tests/envs/test_conformance.py compares the two. Left out is what our observations do not use:
visibility ratios (an IntersectionObserver that polls every 40 ms) and set-of-marks. One deviation: BrowserGym copies every
element's `value` property to the attribute, which renumbers `<li>` items; we copy it for form elements only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from harness.envs.settle import VERSION_JS, WATCH_JS

BID_ATTRIBUTE = "bid"
_CARRIER_PREFIX = "browsergym_id_"

_STANDARD_TAGS = (
    "a abbr acronym address applet area article aside audio b base basefont bdi bdo big blockquote body br button canvas "
    "caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset figcaption "
    "figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label "
    "legend li link main map mark menu meta meter nav noframes noscript object ol optgroup option output p param picture pre "
    "progress q rp rt ruby s samp script search section select small source span strike strong style sub summary sup svg "
    "table tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr"
)

# Elements in document order, shadow trees in place right after their host (as BrowserGym orders them).
_WALK_JS = """
    const elements = [];
    const walk = (root) => {
        for (const element of root.querySelectorAll('*')) {
            elements.push(element);
            if (element.shadowRoot) walk(element.shadowRoot);
        }
    };
    walk(document);
"""

_KEEP_JS = "if (kept) delete window.__harness_unkept;"

MARK_JS = (
    """([prefix, tags, cap]) => {"""
    + WATCH_JS
    + _WALK_JS
    + """
    const standard = new Set(tags.split(' '));
    const withValue = new Set(['input', 'textarea', 'select', 'button', 'option', 'progress', 'meter', 'output', 'data']);
    const seen = new Set();
    const unkept = window.__harness_unkept;
    if (unkept) {
        for (const element of elements) if (unkept.bids.has(element.getAttribute('bid'))) element.removeAttribute('bid');
        [window.__harness_next_bid, window.__harness_next_frame] = unkept.before;
    }
    const first = window.__harness_next_bid === undefined;
    const given = new Set();
    window.__harness_unkept = {bids: given, before: [window.__harness_next_bid, window.__harness_next_frame]};
    if (first) { window.__harness_next_bid = 0; window.__harness_next_frame = 0; }
    const letters = (n) => {  // 0 → a, 25 → z, 26 → aA: all but the first character in upper case, as BrowserGym writes them
        const digits = [];
        for (n = n + 1; n > 0; n = Math.floor((n - 1) / 26)) digits.unshift((n - 1) % 26);
        return digits.map((d, i) => String.fromCharCode((i ? 65 : 97) + d)).join('');
    };
    const carry = (element, attribute, bid) => {
        const own = element.getAttribute(attribute);
        element.setAttribute(attribute, '"""
    + _CARRIER_PREFIX
    + """' + bid + ' ' + (own === null ? '' : own));
    };
    // Beyond the cap, whole subtrees are taken out of the accessibility tree until unmarking.
    const beyond = new Set(elements.slice(cap));
    for (const element of beyond) {
        if (beyond.has(element.parentElement) || element.hasAttribute('harness-hidden')) continue;
        element.setAttribute('harness-hidden', element.getAttribute('aria-hidden') ?? '');
        element.setAttribute('aria-hidden', 'true');
    }
    elements.length = Math.min(elements.length, cap);
    for (const element of elements) {
        const tag = (element.tagName || '').toLowerCase();
        if (!standard.has(tag)) continue;
        if (withValue.has(tag) && element.value !== undefined && element.type !== 'file') {
            element.setAttribute('value', element.value);
        }
        if (element.checked !== undefined) element.toggleAttribute('checked', element.checked === true);
        let bid = element.getAttribute('bid');
        if (first || bid === null || seen.has(bid)) {
            const frame = tag === 'iframe' || tag === 'frame';
            bid = prefix + (frame ? letters(window.__harness_next_frame++) : window.__harness_next_bid++);
            element.setAttribute('bid', bid);
            given.add(bid);
        }
        seen.add(bid);
        carry(element, 'aria-roledescription', bid);
        carry(element, 'aria-description', bid);
    }
    watch.forget();
"""
    + VERSION_JS
    + """
    return [elements.length + beyond.size, elements.some((element) => element.shadowRoot) ? '' : version];
}"""
)

UNMARK_JS = (
    """(kept) => {"""
    + _KEEP_JS
    + WATCH_JS
    + _WALK_JS
    + """
    for (const element of elements) {
        const hidden = element.getAttribute('harness-hidden');
        if (hidden !== null) {
            element.removeAttribute('harness-hidden');
            if (hidden) element.setAttribute('aria-hidden', hidden); else element.removeAttribute('aria-hidden');
        }
        for (const attribute of ['aria-roledescription', 'aria-description']) {
            const value = element.getAttribute(attribute);
            if (value === null || !value.startsWith('"""
    + _CARRIER_PREFIX
    + """')) continue;
            const own = value.slice(value.indexOf(' ') + 1);
            if (own) element.setAttribute(attribute, own); else element.removeAttribute(attribute);
        }
    }
    let focused = document.activeElement;
    while (focused && focused.shadowRoot && focused.shadowRoot.activeElement) focused = focused.shadowRoot.activeElement;
    watch.forget();
    return [(focused && focused.getAttribute && focused.getAttribute('bid')) || '', document.title];
}"""
)

_KEEP_IF_SAME_JS = "(wanted) => {" + WATCH_JS + VERSION_JS + "const kept = version === wanted;" + _KEEP_JS + "return kept; }"


class Marked(NamedTuple):
    """`dropped`: elements left out. `version`: the state of the page that was marked, as settle.py names it; the same name later
    means that nothing changed. Empty: cannot be told."""

    dropped: int
    version: str


def mark(page: Any, max_elements: int) -> Marked:
    """Mark all frames of the page that run scripts; at most `max_elements` in document order per frame, since Chrome needs
    minutes for the tree of a page of 100,000."""
    dropped = 0

    def visit(frame: Any, prefix: str) -> str:
        nonlocal dropped
        elements, version = frame.evaluate(MARK_JS, [prefix, _STANDARD_TAGS, max_elements])
        dropped += max(0, int(elements) - max_elements)
        for child, bid in scriptable_children(frame):
            visit(child, bid)
        return str(version)

    version = visit(page.main_frame, "")
    return Marked(dropped, version)


def unmark(page: Any, *, kept: bool) -> tuple[str, str]:
    """Take the carriers out again; the bids stay for good if the look is `kept`. Returns the bid of the focused element, through
    frames (empty if none), and the title."""
    focused, title = map(str, page.main_frame.evaluate(UNMARK_JS, kept))
    stack = list(scriptable_children(page.main_frame))
    while stack:
        frame, bid = stack.pop()
        inner = str(frame.evaluate(UNMARK_JS, kept)[0])
        if focused == bid and inner:
            focused = inner
        stack = [*scriptable_children(frame), *stack]
    return focused, title


def keep_if_same(page: Any, version: str) -> bool:
    """Is the page still as it was when it was marked? Then its bids stay. For pages of one frame: others have no version."""
    return bool(page.evaluate(_KEEP_IF_SAME_JS, version))


def scriptable_children(frame: Any) -> list[tuple[Any, str]]:
    """(child frame, its bid): attached, marked, and not sandboxed away from scripts (those cannot be marked)."""
    children = []
    for child in frame.child_frames:
        if child.is_detached():
            continue
        element = child.frame_element()
        if element.content_frame() != child:  # the PDF viewer in an <embed> is such a frame
            continue
        sandbox = element.get_attribute("sandbox")
        bid = element.get_attribute(BID_ATTRIBUTE)
        if bid and (sandbox is None or "allow-scripts" in sandbox.split()):
            children.append((child, bid))
    return children


def pop_bid(node: dict[str, Any]) -> str:
    """Take the carrier out of one node of Chrome's accessibility tree, in place; its bid, or empty."""
    bid = ""
    properties = node.get("properties", [])
    for position, item in enumerate(properties):
        if item["name"] == "roledescription":
            bid, rest = _split_carrier(item["value"]["value"])
            if rest:
                item["value"]["value"] = rest
            else:
                del properties[position]
            break
    description = node.get("description")
    if description:
        found, rest = _split_carrier(description.get("value", ""))
        bid = bid or found
        if rest:
            description["value"] = rest
        else:
            del node["description"]
    return bid


def _split_carrier(text: str) -> tuple[str, str]:
    if not isinstance(text, str) or not text.startswith(_CARRIER_PREFIX):
        return "", text
    bid, _, rest = text[len(_CARRIER_PREFIX) :].partition(" ")
    return bid, rest
