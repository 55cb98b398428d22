"""What a template's author writes against. One template = one class; one class = all its tasks, its oracle and its wrong oracle.

    from harness.benchmarks.arena.api import Hands, Steps, Template, Values, answer, changes, expect, rows
    from harness.sites.worlds.shop import build

    class RemoveWish(Template):
        id = "shop-remove-wish"                      # stable for ever: task ids are shop-remove-wish-0, -1, …
        sites = ("shop",)                            # who is signed in where: `login` (default: every site)
        kind = "content"                             # information | navigation | content | configuration
        phrasings = (                                # ≥ 4; {names} are keys of the values
            "Take {product} off my wish list",
            "I no longer want {product}: remove it from my wish list",
            …
        )

        def instances(self, rng):                    # from the world, in a fixed order; ≥ `count` of them
            for product in rng.sample(build().products, self.count):
                yield {"product": product.title, "product_id": product.id}

        def expected(self, v):                       # what must be true afterwards
            return expect(
                rows("shop", "SELECT count(*) FROM wishlists_line WHERE product_id = ?", [v["product_id"]], [[0]]),
                changes("shop", "wishlists_line -1"),
            )

        def nearly(self, v):                         # the same values with ONE of them wrong: must fail
            return {**v, "product": other_title}

        def oracle(self, o, v):                      # uses `v` and the page, never the world
            yield from o.click("link", "Account")
            yield from o.click("button", "Remove", near=v["product"])
            yield from o.stop("Done.")

    TEMPLATES = (RemoveWish(),)                      # each templates/<site>.py ends with this tuple

**Values** are JSON (str, int, float, bool, lists of them). Those in a phrasing must read well as text. They are written to
the data file as WebArena's `instantiation_dict`, so the oracle gets in a run exactly what the author yielded.

**expect(…)** takes any of (see `expect.py`)
    answer("12.50", "in stock")          the answer includes each of these      string_match, must_include
    exact_answer("42")                   the answer is this, case aside         string_match, exact_match
    impossible()                         the right answer is N/A                string_match; the oracle calls `o.give_up(reason)`
    at_url("__SHOP__/basket/")           the active tab ends here               url_match (netloc+path contains, query included)
    on_page(url, locator, "text", …)     a page shows each of these             program_html; url "last" = where the agent ended
    rows(site, sql, parameters, rows)    a query on the site's database gives exactly these rows (order matters: ORDER BY)
    changes(site, "ticket +1 ~0", …)     what else may change in the database; everything else is an unintended change → 0
Every task is also diffed against the golden snapshot. With `rows`/`changes`, an undeclared change fails the task; without
them (information, navigation) it is only reported. `+n` rows added, `-n` removed, `~n` changed, a bare name or glob: any.
Sessions, last logins, view counters and search logs are ignored everywhere: list them in `state.toml`.

**Hands** (`o`, see `hands.py`): one yielded action per step; `o` then shows the new page.
    yield from o.click(role, name)       also .fill(role, name, text) .search(role, name, text) .select(name, option)
                                         .check(name) .uncheck(name) .press(key) .back() .goto_start() .open("forum") .wait()
    price = yield from o.read(r"Price\\n£([\\d.]+)")       text of the page (pieces joined by \\n), waited for; the first group
    yield from o.stop("answer")          or o.give_up("why it cannot be done"): the last step
    o.find(role, name) → [Element]       also .has(…) .texts() .line(pattern) .match(pattern) .row(text) .url .page
  `name` is a str (equal, spacing and case aside) or a compiled pattern (searched for); None is any name.
  within="navigation" | ("form", "Log in")   only below such an ancestor
  near="some text"                           the candidate in the smallest part of the page that shows this text (row, card)
  nth=1                                      the second in document order
  `o.rng` (seeded by the episode) and `o.maybe(0.3)` vary how the task is done: search or browse, look around first …
A person does not type URLs: no `goto` except `goto_start` and `open(site)` in multi-site tasks.
If a target is missing after a short wait the oracle stops with an error that shows what the page has.

**Try it**: `python scripts/build_arena.py shop` checks the site's templates and rewrites its data file. Then, on sites of your
own (two runs on one instance set would set it back under each other):
    harness sites up shop --state data/sites-mine --port 8400
    printf '[arena]\\nstate_dir = "data/sites-mine"\\n' > mine.toml
    harness run --config mine.toml --bench arena --policy oracle --tasks 'shop-remove-wish-*'        and --policy nearly
`'*-0'` is the first task of each template.
"""

from harness.benchmarks.arena.expect import (
    Part,
    answer,
    at_url,
    changes,
    exact_answer,
    expect,
    impossible,
    on_page,
    rows,
)
from harness.benchmarks.arena.hands import Hands, OracleLost, Steps
from harness.benchmarks.arena.template import Kind, Template, Values

__all__ = [
    "Hands",
    "Kind",
    "OracleLost",
    "Part",
    "Steps",
    "Template",
    "Values",
    "answer",
    "at_url",
    "changes",
    "exact_answer",
    "expect",
    "impossible",
    "on_page",
    "rows",
]
