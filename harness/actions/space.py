"""The action space: every action's parameters, their kinds and defaults, and the named subsets of it.

    ACTION_SPACE["click"] = Signature
        name         click
        parameters   bid: bid (required) | button: button = "left" | modifiers: modifiers = []
        description  one sentence for prompts
        example      a call that parses

The actions are those of BrowserGym 0.14.3 (`browsergym.core.action.functions`), plus one of ours: `type`, which is
WebArena's "type, then press Enter if asked" as a single action. Our executor runs it as `fill` followed by Enter.
tests/actions compares every other signature with the installed BrowserGym.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from pydantic import JsonValue

Kind = Literal["bid", "text", "number", "integer", "boolean", "button", "modifiers", "text_or_list"]

BUTTONS: Final = ("left", "middle", "right")
MODIFIERS: Final = ("Alt", "Control", "ControlOrMeta", "Meta", "Shift")


class _Required:
    """The type of `REQUIRED`: a default of None would be ambiguous."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = _Required()


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `kind` decides what is accepted and how it is coerced (see `harness.actions.build`)."""

    name: str
    kind: Kind
    default: JsonValue | _Required = REQUIRED

    @property
    def required(self) -> bool:
        return isinstance(self.default, _Required)

    @property
    def is_bid(self) -> bool:
        return self.kind == "bid"


@dataclass(frozen=True, slots=True)
class Signature:
    """One action. `ours` marks what BrowserGym does not have."""

    name: str
    parameters: tuple[Parameter, ...]
    description: str
    example: str
    ours: bool = False

    @property
    def bid_parameters(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters if parameter.is_bid)

    def __str__(self) -> str:
        """As BrowserGym prints it in prompts, e.g. `scroll(delta_x: float, delta_y: float)`."""
        return f"{self.name}({', '.join(_parameter_text(parameter) for parameter in self.parameters)})"


_TYPE_TEXT: Final[dict[Kind, str]] = {
    "bid": "str",
    "text": "str",
    "number": "float",
    "integer": "int",
    "boolean": "bool",
    "button": "Literal['left', 'middle', 'right']",
    "modifiers": "list[Literal['Alt', 'Control', 'ControlOrMeta', 'Meta', 'Shift']]",
    "text_or_list": "str | list[str]",
}


def _parameter_text(parameter: Parameter) -> str:
    text = f"{parameter.name}: {_TYPE_TEXT[parameter.kind]}"
    return text if parameter.required else f"{text} = {parameter.default!r}"


_BID = Parameter("bid", "bid")
_BUTTON = Parameter("button", "button", "left")
_MODIFIERS = Parameter("modifiers", "modifiers", [])
_KEY = Parameter("key", "text")
_XY = (Parameter("x", "number"), Parameter("y", "number"))

_SIGNATURES: Final = (
    Signature("noop", (Parameter("wait_ms", "number", 1000),), "Do nothing, or wait for some milliseconds.", "noop(500)"),
    Signature(
        "send_msg_to_user",
        (Parameter("text", "text"),),
        "Send a message to the user: the answer to the task.",
        'send_msg_to_user("The city was built in 1751.")',
    ),
    Signature(
        "report_infeasible",
        (Parameter("reason", "text"),),
        "Tell the user that the task cannot be done, and why.",
        'report_infeasible("There is no email field in this form.")',
    ),
    Signature(
        "fill",
        (_BID, Parameter("value", "text"), Parameter("enable_autocomplete_menu", "boolean", False)),
        "Replace the content of an input, textarea or editable element.",
        'fill("45", "two\\nlines")',
    ),
    Signature(
        "type",
        (_BID, Parameter("text", "text"), Parameter("press_enter", "boolean", True)),
        "Replace the content of a field, then press Enter unless press_enter is False.",
        'type("45", "red shoes", press_enter=True)',
        ours=True,
    ),
    Signature("check", (_BID,), "Make sure that a checkbox or radio button is checked.", 'check("55")'),
    Signature("uncheck", (_BID,), "Make sure that a checkbox is not checked.", 'uncheck("a5289")'),
    Signature(
        "select_option",
        (_BID, Parameter("options", "text_or_list")),
        "Select one or several options of a select element, by value or label.",
        'select_option("c48", ["red", "green"])',
    ),
    Signature("click", (_BID, _BUTTON, _MODIFIERS), "Click an element.", 'click("a51")'),
    Signature("dblclick", (_BID, _BUTTON, _MODIFIERS), "Double click an element.", 'dblclick("12")'),
    Signature("hover", (_BID,), "Move the mouse over an element.", 'hover("b8")'),
    Signature(
        "press",
        (_BID, Parameter("key_comb", "text")),
        "Focus an element and press a key or a combination of keys.",
        'press("a26", "ControlOrMeta+a")',
    ),
    Signature("focus", (_BID,), "Focus an element.", 'focus("b455")'),
    Signature("clear", (_BID,), "Empty an input field.", 'clear("996")'),
    Signature(
        "drag_and_drop",
        (Parameter("from_bid", "bid"), Parameter("to_bid", "bid")),
        "Drag one element onto another.",
        'drag_and_drop("56", "498")',
    ),
    Signature(
        "scroll",
        (Parameter("delta_x", "number"), Parameter("delta_y", "number")),
        "Scroll by pixels; positive is right and down.",
        "scroll(0, 200)",
    ),
    Signature(
        "scroll_at",
        (
            Parameter("x", "integer"),
            Parameter("y", "integer"),
            Parameter("dx", "integer"),
            Parameter("dy", "integer"),
        ),
        "Move the mouse to a point and scroll there by pixels.",
        "scroll_at(50, 100, 0, -100)",
    ),
    Signature("mouse_move", _XY, "Move the mouse to a point, in pixels of the viewport.", "mouse_move(65.2, 158.5)"),
    Signature("mouse_up", (*_XY, _BUTTON), "Move the mouse to a point and release a button.", "mouse_up(250, 120)"),
    Signature("mouse_down", (*_XY, _BUTTON), "Move the mouse to a point and hold a button.", "mouse_down(140, 580)"),
    Signature("mouse_click", (*_XY, _BUTTON), "Click at a point.", "mouse_click(887.2, 68)"),
    Signature("mouse_dblclick", (*_XY, _BUTTON), "Double click at a point.", "mouse_dblclick(5, 236)"),
    Signature(
        "mouse_drag_and_drop",
        (
            Parameter("from_x", "number"),
            Parameter("from_y", "number"),
            Parameter("to_x", "number"),
            Parameter("to_y", "number"),
        ),
        "Drag from one point to another.",
        "mouse_drag_and_drop(10.7, 325, 235.6, 24.5)",
    ),
    Signature("keyboard_press", (_KEY,), "Press a key or a combination of keys.", 'keyboard_press("Enter")'),
    Signature("keyboard_up", (_KEY,), "Release a key.", 'keyboard_up("Shift")'),
    Signature("keyboard_down", (_KEY,), "Press and hold a key.", 'keyboard_down("Shift")'),
    Signature(
        "keyboard_type",
        (Parameter("text", "text"),),
        "Type a text key by key into the focused element.",
        'keyboard_type("Hello world!")',
    ),
    Signature(
        "keyboard_insert_text",
        (Parameter("text", "text"),),
        "Insert a text into the focused element with one input event.",
        'keyboard_insert_text("Hello world!")',
    ),
    Signature("goto", (Parameter("url", "text"),), "Open a URL.", 'goto("http://www.example.com")'),
    Signature("go_back", (), "Go back one page in the history.", "go_back()"),
    Signature("go_forward", (), "Go forward one page in the history.", "go_forward()"),
    Signature("new_tab", (), "Open a new tab, which becomes the active one.", "new_tab()"),
    Signature("tab_close", (), "Close the current tab.", "tab_close()"),
    Signature("tab_focus", (Parameter("index", "integer"),), "Activate a tab by its index.", "tab_focus(2)"),
    Signature(
        "upload_file",
        (_BID, Parameter("file", "text_or_list")),
        "Click an element and choose one or several files for its upload.",
        'upload_file("572", "receipt.pdf")',
    ),
    Signature(
        "mouse_upload_file",
        (*_XY, Parameter("file", "text_or_list")),
        "Click at a point and choose one or several files for its upload.",
        'mouse_upload_file(132.1, 547, "receipt.pdf")',
    ),
)

ACTION_SPACE: Final[dict[str, Signature]] = {signature.name: signature for signature in _SIGNATURES}
"""Every action by name. Treat as read-only."""

BROWSERGYM: Final = tuple(signature.name for signature in _SIGNATURES if not signature.ours)
"""All of BrowserGym's high-level actions."""

DYNAWEB: Final = ("click", "type", "scroll", "go_back", "send_msg_to_user", "report_infeasible")
"""The five actions of the DynaWeb paper (click, type, scroll, goback, stop); stop is an answer or "cannot be done"."""

WEBARENA: Final = (
    "click", "type", "hover", "keyboard_press", "scroll", "new_tab", "tab_focus", "tab_close", "goto", "go_back",
    "go_forward", "send_msg_to_user", "report_infeasible",
)  # fmt: skip
"""What WebArena's own agent prompt offers."""

MINIWOB: Final = (
    "click", "dblclick", "fill", "check", "uncheck", "select_option", "hover", "press", "focus", "clear",
    "drag_and_drop", "scroll", "mouse_move", "mouse_down", "mouse_up", "mouse_click", "mouse_dblclick",
    "mouse_drag_and_drop", "keyboard_press", "keyboard_type", "noop",
)  # fmt: skip
"""What MiniWoB++ tasks can need: one page, no navigation, no answer to send."""
