"""Product pictures have their small form already: looking at a page writes neither files nor rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import pictures
from oscar.core.thumbnails import AbstractThumbnailer


class Picture(NamedTuple):
    url: str
    width: int
    height: int


class OriginalPicture(AbstractThumbnailer):
    def generate_thumbnail(self, source: Any, **opts: Any) -> Picture:
        """`source` is an image field's file or a path below the media directory."""
        from django.core.files.storage import default_storage

        width, _, height = opts.get("size", "").partition("x")
        name = source.name if hasattr(source, "name") else str(source)
        small = name.removesuffix(".png") + pictures.SMALL_SUFFIX
        if 0 < int(width or height or 0) <= 100 and default_storage.exists(small):
            name = small
        return Picture(default_storage.url(name), int(width or height or 200), int(height or width or 200))

    def delete_thumbnails(self, source: Any) -> None:
        """There are none."""
