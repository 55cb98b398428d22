"""The vocabulary of the shop's world: departments, shelves, what lies on them, and what customers say about it.

    TREE   department → section → shelf → Shelf(nouns, price range in pence, materials, uses)

Only data. harness.sites.worlds.shop draws from it.
"""

from __future__ import annotations

from typing import NamedTuple


class Shelf(NamedTuple):
    """A third-level category: what its products are called, cost (pence), are made of and are for."""

    nouns: tuple[str, ...]
    low: int
    high: int
    materials: tuple[str, ...]
    uses: tuple[str, ...]


_METAL = ("steel", "aluminium", "brass")
_WOOD = ("oak", "beech", "bamboo", "walnut")
_CLOTH = ("cotton", "wool", "linen", "canvas")
_HARD = ("ceramic", "glass", "stoneware")
_TECH = ("aluminium", "plastic", "steel")

TREE: dict[str, dict[str, dict[str, Shelf]]] = {
    "Living": {
        "Lighting": {
            "Desk Lamps": Shelf(("Desk Lamp", "Clamp Lamp"), 1800, 8900, _METAL, ("late reading", "a tidy desk", "close work")),
            "Floor Lamps": Shelf(("Floor Lamp", "Arc Lamp"), 4500, 18900, _METAL + _WOOD, ("a dark corner", "an armchair")),
            "Lanterns": Shelf(("Lantern", "Candle Holder"), 900, 4200, (*_METAL, "glass"), ("a porch", "a long table")),
        },
        "Furniture": {
            "Chairs": Shelf(("Dining Chair", "Stool", "Armchair"), 3900, 24900, _WOOD, ("a small kitchen", "a study")),
            "Shelving": Shelf(("Bookcase", "Wall Shelf"), 2400, 19900, (*_WOOD, "steel"), ("paperbacks", "house plants")),
            "Side Tables": Shelf(("Side Table", "Nesting Table"), 2900, 14900, _WOOD, ("a bedside", "a hallway")),
        },
        "Textiles": {
            "Blankets": Shelf(("Throw", "Blanket"), 1900, 9900, _CLOTH, ("a cold evening", "the end of the bed")),
            "Cushions": Shelf(("Cushion", "Floor Cushion"), 900, 4900, _CLOTH, ("a hard bench", "the sofa")),
        },
    },
    "Kitchen": {
        "Cookware": {
            "Saucepans": Shelf(("Saucepan", "Stockpot"), 1900, 11900, _METAL, ("porridge", "a large soup")),
            "Frying Pans": Shelf(
                ("Frying Pan", "Griddle Pan"), 1500, 8900, ("steel", "cast iron", "aluminium"), ("eggs", "flatbread")
            ),
            "Casseroles": Shelf(
                ("Casserole", "Roasting Dish"), 2900, 16900, ("cast iron", "stoneware"), ("slow stews", "a gratin")
            ),
        },
        "Tableware": {
            "Mugs": Shelf(("Mug", "Espresso Cup"), 500, 2400, _HARD, ("strong tea", "a first coffee")),
            "Bowls": Shelf(("Serving Bowl", "Cereal Bowl"), 600, 3900, (*_HARD, "beech"), ("salads", "breakfast")),
            "Jugs": Shelf(("Water Jug", "Carafe"), 1100, 4500, _HARD, ("a long lunch", "cut flowers")),
        },
        "Tea and Coffee": {
            "Kettles": Shelf(("Stovetop Kettle", "Electric Kettle"), 2400, 9900, _METAL, ("a quick cup", "the camp stove")),
            "Teapots": Shelf(("Teapot", "Infuser Pot"), 1500, 6900, _HARD, ("loose leaves", "two cups")),
            "Coffee Makers": Shelf(
                ("Coffee Press", "Moka Pot", "Pour-Over Stand"), 1700, 12900, ("steel", "glass"), ("one cup", "six cups")
            ),
        },
    },
    "Outdoor": {
        "Camping": {
            "Tents": Shelf(
                ("Two-Person Tent", "Family Tent", "Tarp Shelter"),
                5900,
                38900,
                ("nylon", "canvas"),
                ("high ground", "a wet weekend"),
            ),
            "Sleeping Bags": Shelf(
                ("Sleeping Bag", "Bivvy Bag"), 3500, 21900, ("nylon", "down"), ("frosty nights", "summer nights")
            ),
            "Camping Stoves": Shelf(("Gas Stove", "Wood Stove"), 2200, 13900, _METAL, ("two pots", "boiling water fast")),
        },
        "Walking": {
            "Rucksacks": Shelf(("Day Pack", "Rucksack"), 2900, 17900, ("nylon", "canvas"), ("a day out", "a week away")),
            "Walking Poles": Shelf(
                ("Walking Poles", "Trekking Stick"),
                1900,
                8900,
                ("aluminium", "carbon", "bamboo"),
                ("steep paths", "river crossings"),
            ),
            "Water Bottles": Shelf(
                ("Water Bottle", "Insulated Flask"), 900, 3900, ("steel", "plastic", "aluminium"), ("cold water", "hot soup")
            ),
        },
        "Cycling": {
            "Bike Lights": Shelf(("Front Light", "Rear Light"), 1200, 6900, _TECH, ("unlit lanes", "the commute")),
            "Panniers": Shelf(
                ("Pannier", "Handlebar Bag"), 2400, 11900, ("nylon", "canvas", "leather"), ("groceries", "a laptop")
            ),
        },
    },
    "Audio": {
        "Headphones": {
            "Over-Ear Headphones": Shelf(
                ("Headphones", "Studio Headphones"), 3900, 29900, _TECH, ("long flights", "home mixing")
            ),
            "Earbuds": Shelf(("Earbuds", "Wireless Earbuds"), 1900, 17900, ("plastic", "aluminium"), ("running", "phone calls")),
        },
        "Speakers": {
            "Bookshelf Speakers": Shelf(
                ("Bookshelf Speaker", "Active Speaker"),
                7900,
                44900,
                ("oak", "walnut", "plastic"),
                ("a small room", "a turntable"),
            ),
            "Portable Speakers": Shelf(("Portable Speaker", "Pocket Speaker"), 2500, 15900, _TECH, ("the garden", "a picnic")),
        },
        "Hi-Fi": {
            "Turntables": Shelf(("Turntable", "Belt-Drive Turntable"), 8900, 49900, _WOOD, ("old records", "a first system")),
            "Radios": Shelf(
                ("Table Radio", "Pocket Radio"), 2900, 15900, ("walnut", "plastic", "beech"), ("the kitchen", "the workshop")
            ),
        },
    },
    "Clothing": {
        "Outerwear": {
            "Rain Jackets": Shelf(
                ("Rain Jacket", "Cape"), 4900, 22900, ("nylon", "waxed cotton"), ("steady rain", "a windy pier")
            ),
            "Fleeces": Shelf(("Fleece", "Zip Fleece"), 2900, 9900, ("wool", "recycled polyester"), ("layering", "early starts")),
        },
        "Knitwear": {
            "Jumpers": Shelf(
                ("Crew Jumper", "Roll-Neck Jumper"), 3900, 14900, ("wool", "cotton"), ("draughty houses", "the office")
            ),
            "Cardigans": Shelf(("Cardigan", "Knitted Waistcoat"), 3900, 13900, ("wool", "cotton"), ("spring", "a cool evening")),
        },
        "Accessories": {
            "Scarves": Shelf(("Scarf", "Snood"), 1400, 6900, ("wool", "linen", "cotton"), ("raw mornings", "a gift")),
            "Gloves": Shelf(("Gloves", "Mittens"), 1200, 6900, ("wool", "leather"), ("scraping ice", "cold handlebars")),
            "Socks": Shelf(("Walking Socks", "Ankle Socks"), 600, 2400, ("wool", "cotton"), ("new boots", "every day")),
        },
    },
    "Office": {
        "Paper": {
            "Notebooks": Shelf(
                ("Dotted Notebook", "Ruled Notebook", "Sketchbook"), 500, 2900, ("paper", "linen"), ("meeting notes", "a journal")
            ),
            "Planners": Shelf(("Weekly Planner", "Wall Planner"), 800, 3400, ("paper",), ("a busy term", "the family")),
        },
        "Writing": {
            "Fountain Pens": Shelf(
                ("Fountain Pen", "Italic Pen"), 1500, 12900, ("brass", "resin", "steel"), ("letters", "signatures")
            ),
            "Pencils": Shelf(("Pencil Set", "Mechanical Pencil"), 400, 3400, ("cedar", "brass"), ("drawing", "crosswords")),
        },
        "Desk": {
            "Desk Organisers": Shelf(
                ("Desk Organiser", "Letter Tray"), 1100, 6400, (*_WOOD, "steel"), ("loose papers", "small things")
            ),
            "Monitor Stands": Shelf(
                ("Monitor Stand", "Laptop Stand"), 1900, 9900, (*_WOOD, "aluminium"), ("a straight back", "video calls")
            ),
        },
    },
    "Garden": {
        "Tools": {
            "Hand Tools": Shelf(("Trowel", "Hand Fork", "Secateurs"), 800, 5400, ("steel", "ash"), ("raised beds", "old roses")),
            "Watering Cans": Shelf(
                ("Watering Can", "Mister"), 900, 5900, ("steel", "copper", "plastic"), ("seedlings", "the greenhouse")
            ),
        },
        "Planting": {
            "Plant Pots": Shelf(
                ("Plant Pot", "Hanging Planter"), 600, 5900, ("terracotta", "stoneware", "steel"), ("herbs", "a fern")
            ),
            "Seed Trays": Shelf(("Seed Tray", "Propagator"), 500, 4400, ("plastic", "bamboo"), ("tomatoes", "an early start")),
        },
        "Wildlife": {
            "Bird Feeders": Shelf(
                ("Bird Feeder", "Bird Bath"), 900, 5900, ("steel", "cedar", "ceramic"), ("finches", "a winter garden")
            ),
            "Nest Boxes": Shelf(("Nest Box", "Insect House"), 1200, 4900, ("cedar", "oak"), ("small birds", "solitary bees")),
        },
    },
    "Toys": {
        "Games": {
            "Board Games": Shelf(("Board Game", "Strategy Game"), 1500, 6400, ("card", "beech"), ("four players", "rainy days")),
            "Card Games": Shelf(("Card Game", "Memory Game"), 600, 2400, ("card",), ("train rides", "three generations")),
            "Puzzles": Shelf(
                ("Jigsaw Puzzle", "Wooden Puzzle"), 900, 4400, ("card", "beech"), ("a quiet weekend", "patient hands")
            ),
        },
        "Play": {
            "Building Blocks": Shelf(
                ("Building Blocks", "Marble Run"), 1500, 8900, ("beech", "plastic"), ("small engineers", "the living-room floor")
            ),
            "Wooden Toys": Shelf(
                ("Wooden Train", "Spinning Top", "Pull-Along Duck"),
                900,
                6900,
                ("beech", "maple"),
                ("toddlers", "the grandparents' house"),
            ),
            "Kites": Shelf(("Delta Kite", "Box Kite"), 1200, 7900, ("nylon", "cotton"), ("a steady breeze", "the beach")),
        },
    },
}

SELLING_POINTS = (
    "Finished by hand and checked before it leaves the workshop.",
    "Comes flat packed with every tool you need.",
    "Spare parts are kept in stock for ten years.",
    "Packed without plastic.",
    "Easy to clean with a damp cloth.",
    "Made in small batches, so shades vary a little.",
    "Tested by the people who make it.",
    "Backed by a three-year guarantee.",
    "Folds away when it is not needed.",
    "The colour does not fade in sunlight.",
)

PRAISE = (
    ("Exactly what I hoped for", "Well made and it arrived quickly. I would buy it again."),
    ("Better than the picture", "The colour is warmer than on screen and the finish is very good."),
    ("A pleasure to use", "We use it every day and it still looks new after three months."),
    ("Great value", "I compared four others before buying and this one is the best for the money."),
    ("Bought a second one", "The first was such a success that my sister asked for one too."),
    ("Solid and simple", "Nothing to break, nothing to learn. It does what it should."),
    ("Lovely gift", "Nicely packed, and the person I gave it to was delighted."),
    ("Worth the wait", "Delivery took a week but the quality makes up for it."),
)
MIXED = (
    ("Good with a few flaws", "Works well, but the instructions could be clearer."),
    ("Fine for the price", "Not the best I have owned, yet it is fair for what it costs."),
    ("Smaller than expected", "Check the measurements before you order. Otherwise fine."),
    ("Does the job", "No complaints and no great enthusiasm either."),
    ("Nice but scratches easily", "It looks good, though after two weeks there were marks on it."),
)
GRIPES = (
    ("Disappointed", "A seam came apart within a month. I expected more."),
    ("Not as described", "The colour was nothing like the picture, so it went back."),
    ("Broke too soon", "It lasted six weeks. The replacement was no better."),
    ("Poor packing", "It arrived with a dent because the box was far too large."),
    ("Would not buy again", "It is heavier than stated and awkward to store."),
)
