"""A real picture, made once: 40 × 30 pixels of blue."""

from __future__ import annotations

import io

from PIL import Image


def _png() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (40, 30), "#0072B2").save(buffer, "PNG")
    return buffer.getvalue()


PNG = _png()
