"""Words that the worlds are made of: people, towns, streets, products, firms. All combinations are invented.

    person(rng)            → Person("Maren", "Oakhollow")          .username .email at example.com
    people(rng, n)         → n of them, no two with the same full name, user name or surname-and-initial
    address(rng)           → Address("17 Lantern Row", "Harrowmere", "Northfold", "NF4 2QD")

Given names are common ones; surnames, towns and brands are coined from parts, so that no real person, place or firm is meant.
Everything draws from the `random.Random` it is given and from nothing else: one seed, one world.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

FIRST_NAMES = (
    "Adela", "Alba", "Anselm", "Astrid", "Basil", "Beatrix", "Bram", "Celia", "Clement", "Cora", "Dario", "Delia",
    "Edda", "Elias", "Elsie", "Emil", "Esme", "Fabian", "Faye", "Felix", "Flora", "Gideon", "Greta", "Hazel", "Hugo",
    "Ida", "Imogen", "Ines", "Iris", "Ivo", "Jasper", "Jonas", "Juno", "Kaspar", "Klara", "Lars", "Leopold", "Linus",
    "Lotte", "Lucian", "Mabel", "Magnus", "Maren", "Matilda", "Milo", "Nadia", "Nell", "Nora", "Odette", "Orla", "Oscar",
    "Otis", "Otto", "Petra", "Philippa", "Quentin", "Ramona", "Rhea", "Roland", "Rosalind", "Rufus", "Sabine", "Selma",
    "Silas", "Sybil", "Tamsin", "Thea", "Tobias", "Ursula", "Viola", "Wendel", "Wilma", "Xenia", "Yara", "Zeno",
)  # fmt: skip

_SURNAME_HEADS = (
    "Alder", "Amber", "Ash", "Bracken", "Bram", "Briar", "Copper", "Elder", "Fallow", "Fern", "Flint", "Garrow", "Hazel",
    "Heather", "Hollow", "Juniper", "Kestrel", "Larch", "Linden", "Marrow", "Mill", "Moss", "Oak", "Pebble", "Quill",
    "Raven", "Rowan", "Rush", "Sedge", "Sorrel", "Thistle", "Willow", "Winter", "Wren", "Yarrow",
)  # fmt: skip
_SURNAME_TAILS = (
    "bank", "beck", "bourne", "brook", "croft", "dale", "fell", "field", "ford", "garth", "grove", "hollow", "holt",
    "hurst", "ley", "mere", "more", "ridge", "side", "stead", "thwaite", "water", "wick", "wold", "worth",
)  # fmt: skip

TOWNS = (
    "Aldermarsh", "Ambleford Cross", "Brackenwick", "Briarhaven", "Copperfell", "Dunmallow", "Eastmere Quay", "Elderbrook",
    "Fallowgate", "Fernhollow", "Garrowby Sands", "Greyholt", "Harrowmere", "Hazelthorpe", "Kestrelton", "Larchwater",
    "Lindenstow", "Little Thornwold", "Marrowdale", "Millrace Bay", "Mosswick", "Nethersedge", "Oakenshore", "Pebblecombe",
    "Quillhaven", "Ravenstow", "Rowanbridge", "Sedgeford Moor", "Sorrelby", "Thistlewater", "Upper Garrow", "Winterbeck",
)  # fmt: skip
REGIONS = ("Northfold", "Eastmarch", "Southmoor", "Westerley", "Midvale")
_STREET_HEADS = (
    "Lantern", "Orchard", "Cooper's", "Chapel", "Harbour", "Juniper", "Kiln", "Meadow", "Old Mill", "Quarry", "Station",
    "Tanner's", "Tollgate", "Weaver's", "Windmill", "Bellfounder", "Granary", "Foxglove", "Saltpan", "Clocktower",
)  # fmt: skip
_STREET_TAILS = ("Row", "Lane", "Street", "Road", "Close", "Terrace", "Walk", "Crescent", "Avenue", "Hill")

ADJECTIVES = (
    "Amber", "Autumn", "Basic", "Bright", "Brushed", "Classic", "Compact", "Copper", "Coastal", "Crimson", "Deluxe",
    "Durable", "Everyday", "Folding", "Forest", "Graphite", "Heritage", "Indigo", "Ivory", "Lightweight", "Lunar", "Matte",
    "Midnight", "Modern", "Mossy", "Nordic", "Olive", "Portable", "Quiet", "Quilted", "Rustic", "Sandstone", "Scarlet",
    "Silver", "Slate", "Slim", "Soft", "Solar", "Sturdy", "Summit", "Teal", "Textured", "Tidal", "Trail", "Urban", "Velvet",
    "Vintage", "Walnut", "Warm", "Woodland",
)  # fmt: skip
COLOURS = ("black", "white", "grey", "navy", "olive", "rust", "teal", "cream", "burgundy", "mustard")

BRANDS = (
    "Fernwick", "Oakrill", "Luminth", "Brackwell", "Tidemoor", "Kestra", "Pellgrove", "Quarrelby", "Norvane",
    "Sundrift", "Haldermere", "Juniperloft", "Varnholt", "Ploverstone", "Emberleaf", "Cinderby", "Morrowfield", "Skellaby",
    "Windlass", "Thornquist",
)  # fmt: skip
"""Coined makers of goods, one word each."""


@dataclass(frozen=True, slots=True)
class Person:
    """An invented person. `username` is lower case ASCII; `email` lies at example.com, which belongs to nobody."""

    first: str
    last: str

    @property
    def full(self) -> str:
        return f"{self.first} {self.last}"

    @property
    def username(self) -> str:
        return f"{self.first}.{self.last}".lower()

    @property
    def email(self) -> str:
        return f"{self.username}@example.com"


@dataclass(frozen=True, slots=True)
class Address:
    """A postal address in an invented town."""

    line1: str
    town: str
    region: str
    postcode: str


def person(rng: random.Random) -> Person:
    return Person(rng.choice(FIRST_NAMES), rng.choice(_SURNAME_HEADS) + rng.choice(_SURNAME_TAILS))


def people(rng: random.Random, count: int) -> tuple[Person, ...]:
    """`count` people; no two share a surname, so that "the order of Ms Oakcroft" means one person.

    Raises ValueError where there are not that many surnames.
    """
    surnames = [head + tail for head in _SURNAME_HEADS for tail in _SURNAME_TAILS if head.lower() != tail]
    if count > len(surnames):
        raise ValueError(f"{count} people need {count} surnames; there are {len(surnames)}")
    return tuple(Person(rng.choice(FIRST_NAMES), last) for last in rng.sample(surnames, count))


def address(rng: random.Random) -> Address:
    """An address whose postcode has the form of a British one (two areas that do not exist), as Oscar checks it."""
    street = f"{rng.randint(1, 180)} {rng.choice(_STREET_HEADS)} {rng.choice(_STREET_TAILS)}"
    letters = "ABDEFGHJLNPQRSTUWXYZ"
    postcode = f"{rng.choice(('NF', 'QX'))}{rng.randint(1, 28)} {rng.randint(1, 9)}{rng.choice(letters)}{rng.choice(letters)}"
    return Address(street, rng.choice(TOWNS), rng.choice(REGIONS), postcode)
