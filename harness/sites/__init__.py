"""Real web applications on this machine, with known contents, that can be set back in a moment.

definition.py    AppDefinition, SiteDefinition, Account: what a site is
catalog.py       APPS, SITES: shop, shop_admin, forum, tracker, wiki
worlds/          the contents, as pure data made from a fixed seed: the truth that tasks are computed from
apps/            settings, loader and server of each application; run in .venv-sites, never imported here
environment.py   .venv-sites: the applications' own Python environment
"""
