"""Product pictures, drawn: a plain shape in the product's colour. One per section of the shop and colour, in two sizes."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw

SIZE, SMALL = 240, 70
SMALL_SUFFIX = "-small.png"
FOLDER = "images/products"
_PAINT = {
    "black": "#2b2b2b",
    "white": "#f4f1ea",
    "grey": "#8c9196",
    "navy": "#24385e",
    "olive": "#6f7440",
    "rust": "#a4502c",
    "teal": "#2b7a78",
    "cream": "#e8d9b5",
    "burgundy": "#6d2036",
    "mustard": "#d1a02c",
}
_SHAPES = ("round", "box", "tall", "wide", "roof", "bowl")


def draw(media: Path, section: str, colour: str) -> str:
    """Draws the picture unless it is there. Returns its path below `media`."""
    name = f"{FOLDER}/{section.lower().replace(' ', '-')}-{colour}.png"
    path = media / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        image = Image.new("RGB", (SIZE, SIZE), "#d9dfe3")
        _shape(ImageDraw.Draw(image), _SHAPES[sum(map(ord, section)) % len(_SHAPES)], _PAINT[colour])
        image.quantize(8).save(path, optimize=True)
        small = path.with_name(path.stem + SMALL_SUFFIX)
        image.resize((SMALL, SMALL)).quantize(16).save(small, optimize=True)
    return name


def _shape(pen: ImageDraw.ImageDraw, shape: str, paint: str) -> None:
    low, high, edge = SIZE // 5, SIZE * 4 // 5, "#4a4a4a"
    middle = SIZE // 2
    match shape:
        case "round":
            pen.ellipse((low, low, high, high), fill=paint, outline=edge, width=3)
        case "box":
            pen.rectangle((low, low, high, high), fill=paint, outline=edge, width=3)
        case "tall":
            pen.rectangle((middle - 30, low - 20, middle + 30, high + 20), fill=paint, outline=edge, width=3)
        case "wide":
            pen.rectangle((low - 20, middle - 30, high + 20, middle + 30), fill=paint, outline=edge, width=3)
        case "roof":
            pen.polygon([(middle, low), (high, high), (low, high)], fill=paint, outline=edge)
        case _:
            pen.pieslice((low, low, high, high), 0, 180, fill=paint, outline=edge, width=3)
