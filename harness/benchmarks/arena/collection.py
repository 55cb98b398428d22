"""Templates → tasks: every template found, checked, and written out as WebArena's JSON with a few entries of ours.

    templates/shop*.py TEMPLATES ─► task_rows(template, split) ─► {"task_id": "shop-…-0", "intent": …, "eval": …, …}

Splits are by template. Which split a template is in is data (`data/splits.json`): a new template gets the split its site is
most short of, and an old one is never moved.
"""

from __future__ import annotations

import hashlib
import importlib
import itertools
import json
import pkgutil
import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from random import Random
from types import MappingProxyType
from typing import Any, Final

from harness.benchmarks.arena import templates
from harness.benchmarks.arena.expect import NOT_ACHIEVABLE
from harness.benchmarks.arena.state import parse_rule
from harness.benchmarks.arena.template import Template
from harness.sites.catalog import SITES
from harness.types import JsonDict

SHARES: Final = {"train": 0.6, "test": 0.25, "dev": 0.15}
HELD_OUT_SITE: Final = "forum"
"""The split `held_out_site`: all tasks on this site. Whoever trains for it trains on the others only."""
MULTI: Final = "multi"
GROUPS: Final = (*SITES, MULTI)
"""One data file each."""
MIN_PHRASINGS = 4
_ID = re.compile(r"[a-z0-9]+(?:_[a-z]+)?(?:-[a-z0-9]+)+")
_PLACEHOLDER = re.compile(r"__[A-Z_]+__")


class BadTemplate(ValueError):
    """A template that breaks a rule; the message names it."""


@cache
def templates_of(group: str) -> Mapping[str, Template]:
    """Templates of a site, or of `multi`, by id. Modules of other groups are not imported. Raises BadTemplate."""
    found: dict[str, Template] = {}
    for module in (m.name for m in pkgutil.iter_modules(templates.__path__)):
        if group_of_module(module) != group:
            continue
        # A module without TEMPLATES holds what several of its neighbours share.
        for template in getattr(importlib.import_module(f"{templates.__name__}.{module}"), "TEMPLATES", ()):
            if group_of(template.sites) != group:
                raise BadTemplate(f"{template.id} is a task of {group_of(template.sites)}, but stands in {module}.py")
            if template.id in found:
                raise BadTemplate(f"two templates are called {template.id}")
            found[template.id] = template
    return MappingProxyType(found)


def group_of(sites: Sequence[str]) -> str:
    """The data file that tasks on these sites are in: the site's, or `multi`."""
    return sites[0] if len(sites) == 1 else MULTI


def group_of_module(module: str) -> str:
    """`shop_admin_orders` → `shop_admin`: the longest group whose name begins the module's; empty for other modules."""
    return max((g for g in GROUPS if module == g or module.startswith(f"{g}_")), key=len, default="")


def assign_splits(ids: Sequence[str], known: Mapping[str, str]) -> dict[str, str]:
    """Template id → split, for the templates of one group: the known ones as they are, new ones where most is missing."""
    assigned = {template_id: known[template_id] for template_id in ids if template_id in known}
    # By hash: in order of names, templates that were written together would land together.
    for template_id in sorted(set(ids) - set(known), key=lambda text: hashlib.sha256(text.encode()).hexdigest()):
        counts = Counter(assigned.values())
        assigned[template_id] = max(SHARES, key=lambda split: SHARES[split] * (len(assigned) + 1) - counts[split])
    return {template_id: assigned[template_id] for template_id in ids}


def task_rows(template: Template, split: str) -> list[JsonDict]:
    """The tasks of one template. Raises BadTemplate for the first rule it breaks."""
    _check_template(template)
    rng = Random(f"arena/{template.id}")
    drawn = list(itertools.islice(template.instances(rng), template.count))
    if len(drawn) < template.count:
        raise BadTemplate(f"{template.id}: {len(drawn)} instances, not {template.count}")
    if len({json.dumps(values, sort_keys=True) for values in drawn}) < len(drawn):
        raise BadTemplate(f"{template.id}: two instances have the same values")
    return [_row(template, split, number, values) for number, values in enumerate(drawn)]


def start_url(template: Template) -> str:
    return template.start or " |AND| ".join(SITES[site].placeholder for site in template.sites)


def _row(template: Template, split: str, number: int, values: JsonDict) -> JsonDict:
    where = f"{template.id}-{number}"
    phrasing = template.phrasings[number % len(template.phrasings)]
    try:
        intent = phrasing.format(**values)
    except (KeyError, IndexError, ValueError) as error:
        raise BadTemplate(f"{where}: the phrasing {phrasing!r} cannot be filled in: {error!r}") from None
    nearly = template.nearly(values)
    changed = {key: value for key, value in nearly.items() if values.get(key) != value}
    if set(nearly) != set(values) or not changed:
        raise BadTemplate(f"{where}: nearly() must change values, and neither add nor drop any")
    evaluation = template.expected(values)
    _check_evaluation(where, template, evaluation)
    login = template.sites if template.login is None else template.login
    row: dict[str, Any] = {
        "sites": list(template.sites),
        "task_id": where,
        "require_login": bool(login),
        "storage_state": None,
        "start_url": start_url(template),
        "geolocation": None,
        "intent_template": _doubled(phrasing),
        "instantiation_dict": values,
        "intent": intent,
        "require_reset": False,
        "eval": evaluation,
        "intent_template_id": template.id,
        "kind": template.kind,
        "login": list(login),
        "split": split,
        "held_out_site": HELD_OUT_SITE in template.sites,
        "nearly": changed,
    }
    kept: JsonDict = json.loads(json.dumps(row))
    if kept != row:
        raise BadTemplate(f"{where}: values and expectations must be JSON (lists, not tuples)")
    if unknown := set(_PLACEHOLDER.findall(json.dumps(row))) - {site.placeholder for site in SITES.values()}:
        raise BadTemplate(f"{where}: unknown placeholders {', '.join(sorted(unknown))}")
    return kept


def _check_template(template: Template) -> None:
    if not _ID.fullmatch(template.id):
        raise BadTemplate(f"{template.id!r} is not an id: lower-case words joined by -")
    if unknown := set(template.sites) - set(SITES):
        raise BadTemplate(f"{template.id}: no site {', '.join(sorted(unknown))}")
    if len(set(template.phrasings)) < MIN_PHRASINGS or len(set(template.phrasings)) < len(template.phrasings):
        raise BadTemplate(f"{template.id}: {MIN_PHRASINGS} different phrasings are needed")


def _check_evaluation(where: str, template: Template, evaluation: Mapping[str, Any]) -> None:
    if not evaluation["eval_types"]:
        raise BadTemplate(f"{where}: nothing is expected")
    references = evaluation.get("reference_answers") or {}
    if template.unachievable != (references == {"exact_match": NOT_ACHIEVABLE}):
        raise BadTemplate(f"{where}: unachievable templates expect impossible(), others do not")
    state = evaluation.get("state") or {"checks": [], "changes": {}}
    for check in state["checks"]:
        if not check["sql"].upper().startswith(("SELECT ", "WITH ")):
            raise BadTemplate(f"{where}: {check['sql']!r} is not a SELECT")
    for site in {check["site"] for check in state["checks"]} | set(state["changes"]):
        if site not in template.sites:
            raise BadTemplate(f"{where}: its state is on {site}, which is not one of its sites")
    for rule in itertools.chain.from_iterable(state["changes"].values()):
        parse_rule(rule)


def _doubled(phrasing: str) -> str:
    """WebArena writes `{{name}}` in its intent templates."""
    parts = string.Formatter().parse(phrasing)
    return "".join(text + (f"{{{{{name}}}}}" if name is not None else "") for text, name, _, _ in parts)
