"""Product pictures are small already: no thumbnail is made, so that looking at a page writes neither files nor rows."""

from __future__ import annotations

from typing import Any, NamedTuple

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
        url = source.url if hasattr(source, "url") else default_storage.url(str(source))
        return Picture(url, int(width or height or 200), int(height or width or 200))

    def delete_thumbnails(self, source: Any) -> None:
        """There are none."""
