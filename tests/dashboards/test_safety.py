"""No data reaches a place that Streamlit reads as Markdown or HTML, and what is shown literally is bounded and printable.

The first test reads the source: what is given to those places must be made of constants and formatted numbers only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dashboards
from dashboards import charts, safe
from dashboards.charts import RateLine, Series
from tests.dashboards.places import HOSTILE

SOURCES = sorted(Path(dashboards.__file__).parent.rglob("*.py"))

BODY = (
    "markdown", "write", "caption", "title", "header", "subheader", "info", "warning", "error", "success", "toast", "badge",
    "button", "toggle", "checkbox", "radio", "pills", "segmented_control", "expander", "popover", "selectbox", "multiselect",
    "text_input", "number_input", "slider", "spinner", "status", "download_button", "html", "tabs", "exception", "latex",
)  # fmt: skip
MARKDOWN = {
    **dict.fromkeys(BODY, (0,)),
    "metric": (0, 1, 2),
    "page_link": (),
    "link_button": (0, 1),
    # ours, which hand these arguments on
    "nothing_yet": (0,),
    "broken": (1,),
    "link": (1,),
    "card": (0, 1, 2),
    "estimate": (0, 2),
    "pick": (2,),
}
"""Name of a function → positions of the arguments that are read as Markdown."""
KEYWORDS = {"label", "body", "help", "what", "title", "icon", "alt", "details", "absent", "below"}
PASSED_ON = {"what", "label", "icon", "details", "title", "alt", "value", "below", "absent", "name"}
"""Parameters of our own functions in MARKDOWN: their callers are checked instead."""
NUMBERS = {"written", "counted", "len"}
"""Calls whose result is a number in words, never data."""
NOT_ASKED = {("tables.py", "show"), ("charts.py", "show")}


Functions = tuple[ast.FunctionDef, ...]


def calls() -> Iterator[tuple[Path, Functions, ast.Call]]:
    """Every call with the functions that it stands in."""
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        inside = {function: set(ast.walk(function)) for function in functions}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                yield path, tuple(function for function in functions if node in inside[function]), node


def name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id if isinstance(call.func, ast.Name) else ""


def is_streamlits_or_ours(call: ast.Call) -> bool:
    if isinstance(call.func, ast.Attribute):
        return isinstance(call.func.value, ast.Name) and call.func.value.id in ("st", "states", "links", "cards", "results_files")
    return name_of(call) in ("card",)


def constant(node: ast.expr | None, within: Functions, depth: int = 0) -> bool:
    """Made of constants and of numbers written with a format that no string takes."""
    match node:
        case None | ast.Constant():
            return True
        case ast.JoinedStr(values=items) | ast.List(elts=items) | ast.Tuple(elts=items):
            return all(constant(item, within, depth) for item in items)
        case ast.FormattedValue(value=value, format_spec=spec):
            return (spec is not None and refuses_text(spec)) or constant(value, within, depth)
        case ast.IfExp(body=first, orelse=second):
            return constant(first, within, depth) and constant(second, within, depth)
        case ast.Name(id=name):
            return name.lstrip("_").isupper() or passed_on(name, within) or (depth < 4 and bound(name, within, depth))
        case ast.Call(func=ast.Name(id="list"), args=[only]):
            return constant(only, within, depth)
        case ast.Call(func=ast.Attribute(attr="items", value=only), args=[]):
            return constant(only, within, depth)
        case ast.Call():
            return name_of(node) in NUMBERS
        case ast.Subscript(value=ast.Attribute(attr="STATE_SIGN")):
            return True
    return False


def refuses_text(spec: ast.expr) -> bool:
    """`:,`, `:d`, `:.1f` raise for a string."""
    text = "".join(v.value for v in spec.values if isinstance(v, ast.Constant)) if isinstance(spec, ast.JoinedStr) else ""
    return "," in text or text.endswith(("d", "f", "g"))


def passed_on(name: str, within: Functions) -> bool:
    """A parameter whose callers are checked instead."""
    return name in PASSED_ON and any(name == a.arg for f in within for a in (*f.args.args, *f.args.kwonlyargs))


def bound(name: str, within: Functions, depth: int) -> bool:
    """Every value that the name gets here, by assignment or in a loop, is constant."""
    values: list[ast.expr] = []
    for node in (node for function in within for node in ast.walk(function)):
        match node:
            case ast.Assign(targets=targets, value=value) if any(name in names_in(target) for target in targets):
                values.append(value)
            case ast.For(target=target, iter=iterated) if name in names_in(target):
                values.append(iterated)
    return bool(values) and all(constant(value, within, depth + 1) for value in values)


def names_in(target: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}


def offences() -> list[str]:
    found = []
    for path, within, call in calls():
        name = name_of(call)
        if name not in MARKDOWN or not is_streamlits_or_ours(call) or (path.name, name) in NOT_ASKED:
            continue
        arguments = [call.args[i] for i in MARKDOWN[name] if i < len(call.args)]
        arguments += [keyword.value for keyword in call.keywords if keyword.arg in KEYWORDS]
        for argument in arguments:
            if not constant(argument, within):
                found.append(f"{path.name}:{call.lineno} {name}({ast.unparse(argument)[:90]})")
    return found


def test_markdown_is_made_of_constants_and_numbers() -> None:
    assert offences() == []


def test_the_check_sees_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(
        "import streamlit as st\n"
        "def draw(goal, n):\n"
        "    st.markdown(goal)\n"
        "    st.caption(f'{n:,} of {goal}')\n"
        "    st.button('x', help=goal)\n"
        "    text = goal\n"
        "    st.info(text)\n"
        "    st.success(f'{n:,} fine')\n"
    )
    monkeypatch.setitem(globals(), "SOURCES", [bad])
    assert [line.split()[0] for line in offences()] == ["bad.py:3", "bad.py:4", "bad.py:5", "bad.py:7"]


def test_no_page_allows_html() -> None:
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        assert "unsafe_allow_html" not in text, path
        assert "components" not in text, path
        assert "MarkdownColumn" not in text and "LinkColumn" not in text and "ImageColumn" not in text, path


@given(st.text(max_size=400))
def test_a_line_is_one_printable_line(text: str) -> None:
    shown = safe.line(text, 80)
    assert len(shown) <= 80
    assert "\n" not in shown and "\x00" not in shown and "\u202e" not in shown


@given(st.text(max_size=400), st.integers(1, 5))
def test_a_block_is_bounded_and_says_what_it_leaves_out(text: str, lines: int) -> None:
    shown = safe.block(text, lines, 50)
    assert "\x00" not in shown
    assert len(shown) <= 50 + 80
    if len(shown.split("\n")) > lines + 2:
        pytest.fail(shown)


def test_a_block_says_how_much_is_missing() -> None:
    assert safe.block("a\nb\nc\nd", 2) == "a\nb\n… 2 more lines"
    assert safe.block("x" * 100, 5, 10).startswith("xxxxxxxxxx\n… cut: 100 characters")


@pytest.mark.parametrize("text", HOSTILE)
def test_plotly_gets_no_tag_and_no_tex(text: str) -> None:
    label = safe.label(text)
    assert "<" not in label and ">" not in label and "$" not in label


@pytest.mark.parametrize("text", HOSTILE)
def test_figures_hold_escaped_labels_only(text: str) -> None:
    figures = (
        charts.rates({text: [RateLine(text, 0.5, None, 3)]}),
        charts.curves([Series(text, [0.0, 1.0], [0.0, 1.0])], x=text, y=text),
    )
    for figure in figures:
        written = figure.to_json()
        assert "<script" not in written and "<img" not in written and "$\\\\frac" not in written
        assert "\\u003cscript" not in written and "\\u003cimg" not in written


@given(st.text(max_size=60), st.text(max_size=60))
def test_file_names_are_plain(first: str, second: str) -> None:
    name = safe.file_name(first, second, ending="csv")
    assert name.endswith(".csv") and name.isascii()
    assert not set(name) & set("/\\ :\0") and not name.startswith((".", "-"))
