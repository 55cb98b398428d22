"""The action space as text for prompts, in either syntax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harness.actions.extract import Syntax
from harness.actions.space import ACTION_SPACE, BROWSERGYM
from harness.errors import UsageError

_WEBARENA_LINES: Final = {
    "click": ("click [id]", "Click the element with this id."),
    "type": (
        "type [id] [content] [press_enter_after=0|1]",
        "Type the content into the field with this id, then press Enter unless press_enter_after is 0.",
    ),
    "hover": ("hover [id]", "Move the mouse over the element with this id."),
    "keyboard_press": ("press [key_comb]", "Press a key or a combination of keys, such as Enter or Control+a."),
    "scroll": ("scroll [down|up]", "Scroll the page by one screen."),
    "new_tab": ("new_tab", "Open a new tab."),
    "tab_focus": ("tab_focus [tab_index]", "Switch to the tab with this index."),
    "tab_close": ("close_tab", "Close the current tab."),
    "goto": ("goto [url]", "Open this URL."),
    "go_back": ("go_back", "Go back to the previous page."),
    "go_forward": ("go_forward", "Go forward one page, after going back."),
    "send_msg_to_user": (
        "stop [answer]",
        "End the task. Give the answer in the brackets if the task asks for one.",
    ),
    "report_infeasible": ("stop [N/A]", "End the task because it cannot be done."),
}


def describe_action_space(names: Sequence[str] = BROWSERGYM, syntax: Syntax = "browsergym") -> str:
    """One entry per action, in the order of `names`: how it is written, what it does.

    Raises UsageError for a name that does not exist, or that the syntax cannot express.
    """
    known = ACTION_SPACE if syntax == "browsergym" else _WEBARENA_LINES
    for name in names:
        if name not in known:
            raise UsageError(f"no action {name!r} in {syntax} syntax", fix=f"choose from {', '.join(known)}")
    if syntax == "webarena":
        return "\n".join(f"{form}: {text}" for form, text in (_WEBARENA_LINES[name] for name in names))
    signatures = [ACTION_SPACE[name] for name in names]
    return "\n".join(f"{signature}\n    {signature.description}\n    Example: {signature.example}" for signature in signatures)
