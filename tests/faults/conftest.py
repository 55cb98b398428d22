"""One server with all fault pages per test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.faults.command import Site
from tests.support.fault_tasks import DOWN, HEALTHY, PAGES
from tests.support.web import serve


class Served(NamedTuple):
    url: str
    site: Site


@pytest.fixture
def served() -> Iterator[Served]:
    site = Site()
    pages = PAGES | {f"/down/{number}": HEALTHY for number in range(DOWN)}
    with serve({path: site.page(page) for path, page in pages.items()}) as url:
        yield Served(url, site)
        site.release()
