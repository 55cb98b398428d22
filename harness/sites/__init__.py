"""Real web applications on this machine, with known contents, that can be set back in a moment.

    definition.py    AppDefinition, SiteDefinition, Account: what a site is
    catalog.py       APPS, SITES: shop, shop_admin, forum, tracker, wiki
    worlds/          the contents, as pure data made from a fixed seed: the truth that tasks are computed from
    apps/            settings, loader and server of each application; run in .venv-sites, never imported here
    environment.py   .venv-sites: the applications' own Python environment
    golden.py        first states, built once and kept
    snapshot.py      files made equal to a first state while a server works on them
    process.py, health.py, layout.py   servers, whether they answer, and where everything lies
    instances.py     instance sets: up, down, reset, status;  records.py  what the outside sees of them

A benchmark uses `running_sets(state_dir)` and `reset(instance_set, sites)`.
"""

from harness.sites.catalog import APPS, SITES, apps_of
from harness.sites.definition import NOW, Account, AppDefinition, SiteDefinition
from harness.sites.environment import Environment
from harness.sites.instances import Sites, reset, reset_epochs, running_sets
from harness.sites.layout import DEFAULT_STATE
from harness.sites.records import AppInstance, AppStatus, InstanceSet

__all__ = [
    "APPS",
    "DEFAULT_STATE",
    "NOW",
    "SITES",
    "Account",
    "AppDefinition",
    "AppInstance",
    "AppStatus",
    "Environment",
    "InstanceSet",
    "SiteDefinition",
    "Sites",
    "apps_of",
    "reset",
    "reset_epochs",
    "running_sets",
]
