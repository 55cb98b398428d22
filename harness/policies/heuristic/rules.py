"""All rules, in the order in which they are asked. The first that answers wins; the specific come before the general."""

from __future__ import annotations

from harness.policies.heuristic import choices, clicks, dates, fields, numbers
from harness.policies.heuristic.situation import Rule

RULES: tuple[Rule, ...] = (
    clicks.click_role,
    clicks.focus_field,
    clicks.menu_path,
    clicks.next_page_until_found,
    dates.native_input,
    dates.calendar,
    numbers.solve,
    numbers.generate_until,
    numbers.guess,
    numbers.set_spinner,
    numbers.move_slider,
    numbers.buy_below,
    numbers.pick_extreme,
    numbers.count_on_buttons,
    numbers.sort_list,
    fields.copy_text,
    fields.fill_from_table,
    fields.fill_quoted,
    choices.mark_odd_or_even,
    choices.tick_listed,
    choices.tick_ordinal,
    choices.select_options,
    clicks.open_hidden,
    clicks.click_named,
    clicks.submit,
)
