"""All rules, in the order in which they are asked. The first that answers wins; the specific come before the general."""

from __future__ import annotations

from harness.policies.heuristic import choices, clicks, dates, dragging, fields, numbers, suggestions, texts
from harness.policies.heuristic.situation import Rule

RULES: tuple[Rule, ...] = (
    texts.scroll_text,
    texts.delete_file,
    clicks.dismiss_popup,
    clicks.click_role,
    clicks.focus_field,
    clicks.menu_path,
    clicks.next_page_until_found,
    suggestions.pick_by_ends,
    suggestions.pick_labelled,
    dates.native_input,
    dates.calendar,
    numbers.solve,
    numbers.generate_until,
    numbers.guess,
    numbers.set_spinner,
    numbers.move_sliders,
    numbers.buy_below,
    numbers.pick_extreme,
    numbers.count_on_buttons,
    dragging.sort_list,
    dragging.move_item,
    fields.copy_text,
    fields.fill_from_table,
    fields.fill_quoted,
    fields.fill_described,
    choices.mark_odd_or_even,
    choices.tick_listed,
    choices.tick_ordinal,
    choices.select_options,
    clicks.search_result,
    clicks.open_hidden,
    clicks.click_named,
    clicks.submit,
)
