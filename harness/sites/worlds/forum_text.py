"""Sentence parts of the forum: what its members write about. `worlds.forum` combines them; nothing here is drawn at random.

SUBJECTS   eight pastimes, each with two boards; a board has things to talk about and details to tell of them
FRAMES     titles with the opening and the question that go with them; `{thing}` fits any board
REPLIES    openers, general advice, closers; `FACTS` are sentences that hold one checkable value
POLLS      questions with choices
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Board:
    """A subcategory. `things` are noun phrases that read well after "about"."""

    title: str
    description: str
    things: tuple[str, ...]
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """A main category with its boards and the advice that members give in it."""

    title: str
    description: str
    colour: str
    boards: tuple[Board, Board]
    advice: tuple[str, ...]


SUBJECTS = (
    Subject(
        "Gardening", "Beds, borders, pots and plots", "#3c8d40",
        (
            Board(
                "Vegetables and Herbs", "Everything that ends up on a plate",
                ("tomato seedlings", "runner beans", "overwintered garlic", "a cut-and-come-again salad bed",
                 "purple carrots",
                 "squash on a trellis", "basil on a windowsill", "asparagus crowns", "early potatoes in sacks", "leeks",
                 "a small herb spiral", "brassica netting"),
                ("My plot faces west and the soil is heavy clay.", "Slugs took half of last year's crop.",
                 "We had three frosts in April, which did not help.", "I have about six square metres to play with.",
                 "The neighbours grow theirs under glass, I have no room for that."),
            ),
            Board(
                "Flowers and Shrubs", "Colour from the first snowdrop to the last aster",
                ("climbing roses", "dahlias in pots", "a wildflower strip", "hydrangea pruning", "shade-loving ferns",
                 "lavender edging",
                 "sweet peas", "spring bulbs under grass", "a neglected lilac", "alpine troughs", "clematis on a north wall",
                 "hellebores"),
                ("The border gets sun only until noon.", "I inherited this garden with the house.",
                 "Last summer everything flowered at once and then nothing.", "The soil is chalky and dries out fast.",
                 "I would like something that bees enjoy."),
            ),
        ),
        ("Water in the morning and leave the leaves dry.", "A handful of leaf mould in the planting hole works wonders.",
         "Do not feed until you see new growth.", "Harden them off for a full week, not two days.",
         "I mulch with straw and hardly ever weed.", "Cut back by a third and be patient.",
         "Cover them with fleece whenever the sky is clear at dusk.", "Grit under the roots keeps the rot away."),
    ),
    Subject(
        "Cycling", "Two wheels, any weather", "#1f6fb2",
        (
            Board(
                "Repairs and Maintenance", "Creaks, punctures and worn chains",
                ("a creaking bottom bracket", "tubeless sealant", "hub gear adjustment", "truing a rear wheel", "chain wax",
                 "cantilever brakes", "a stuck seatpost", "dynamo wiring", "indexed gears that slip", "bar tape",
                 "freehub noise", "mudguard rattle"),
                ("The bike is a steel tourer from before I was born.", "It only happens under load.",
                 "I ride it every day and cannot be without it for long.", "I own a decent set of tools but no stand.",
                 "The shop in town has a three-week queue."),
            ),
            Board(
                "Routes and Touring", "Where to ride and what to carry",
                ("the coast path by bike", "a weekend loop with one big climb", "winter commuting",
                 "panniers for a long tour",
                 "riding through the night", "gravel roads in the hills", "trains that take bicycles",
                 "a first hundred-kilometre ride",
                 "camping stoves on tour", "paper maps on the handlebar", "riding with children",
                 "quiet lanes near the river"),
                ("I plan four days with about seventy kilometres each.", "Two of us are slow, and we do not mind.",
                 "Last time we ran out of water at noon.", "We would like to avoid main roads altogether.",
                 "My gearing is not made for steep hills."),
            ),
        ),
        ("Clean it first, most noises are dirt.", "Carry two tubes and a patch kit, always.",
         "Turn the adjuster a quarter at a time.", "Grease every thread that you undo.",
         "Start early, the wind picks up after lunch.", "Lower pressure than you think is faster on rough ground.",
         "Check the cable ends before you buy parts.", "Eat before you are hungry and drink before you are thirsty."),
    ),
    Subject(
        "Cooking", "From breakfast to leftovers", "#c2571a",
        (
            Board(
                "Baking", "Bread, cakes and what went wrong with them",
                ("a sluggish sourdough starter", "rye bread with seeds", "shortcrust pastry", "choux buns",
                 "a gluten-free sponge",
                 "overnight rolls", "meringue in humid weather", "cinnamon knots", "oatmeal biscuits", "baking stones",
                 "cheese scones", "plaited loaves"),
                ("My oven runs hot at the back.", "I follow the recipe to the gram.",
                 "The crumb comes out dense every single time.",
                 "The kitchen is cold in winter, about sixteen degrees.",
                 "The children eat it anyway, but I know it can be better."),
            ),
            Board(
                "Everyday Meals", "Weeknights, lunch boxes and one-pot suppers",
                ("lentil soup", "cooking for one", "a freezer full of stock", "rice that does not stick",
                 "roast root vegetables",
                 "packed lunches", "homemade curry paste", "a week of bean dishes", "pickled red cabbage", "cast-iron pans",
                 "dumplings", "leftover potatoes"),
                ("I get home at seven and want to eat by half past.", "Nobody here likes coriander.",
                 "I have two burners and one good knife.", "We cook on Sundays for the whole week.",
                 "It should still taste of something on day three."),
            ),
        ),
        ("Salt it earlier than you think.", "Let it rest for twenty minutes before you touch it again.",
         "Weigh the water as well, cups are useless.", "A splash of vinegar at the end wakes it up.",
         "Use a lower heat and a wider pan.", "Toast the spices dry before anything else.",
         "Keep the lid on and do not peek.", "Brown the butter first, you will not go back."),
    ),
    Subject(
        "Hiking", "On foot, near and far", "#6b7a2a",
        (
            Board(
                "Trails and Trip Reports", "Where we went and what we saw",
                ("the ridge walk above the reservoir", "a snow day on the moor", "the old miners' path",
                 "a wet week in the fells",
                 "sunrise from the beacon", "three huts in three days", "the gorge after heavy rain",
                 "a night walk by moonlight",
                 "the long way round the lake", "getting lost in the plantation", "the causeway at low tide",
                 "larches in autumn"),
                ("We met only two other walkers all day.", "The waymarks stop after the second bridge.",
                 "Fog came in faster than the forecast said.", "It took us an hour longer than the guidebook claims.",
                 "The last bus leaves at ten past five."),
            ),
            Board(
                "Gear and Clothing", "Boots, packs and things that keep you dry",
                ("resoling old boots", "a lighter rucksack", "rain trousers that breathe", "walking poles",
                 "down or synthetic fill",
                 "headlamps", "merino base layers", "a stove for two", "gaiters", "water filters", "winter sleeping mats",
                 "blister plasters"),
                ("I mostly do day walks, now and then a night out.", "My knees are not what they were.",
                 "I would rather repair than replace.", "The old one lasted eleven years.",
                 "Weight matters less to me than comfort."),
            ),
        ),
        ("Try it with a full pack before you trust it.", "Turn back early, the hill will be there next week.",
         "Two thin pairs of socks beat one thick pair.", "Leave a note of your route with somebody.",
         "Wax the seams once a season.", "Take the eastern path, the western one is washed out.",
         "Tape your heels before they hurt.", "A paper map weighs nothing and never runs flat."),
    ),
    Subject(
        "Board Games", "Dice, cards and wooden pieces", "#8a3fa0",
        (
            Board(
                "Rules Questions", "When the rulebook leaves you guessing",
                ("tie-breakers in auction games", "hidden movement", "drafting with two players", "end-game triggers",
                 "trading out of turn", "simultaneous reveals", "dice re-rolls", "shared victory", "solo variants",
                 "negotiation and broken promises", "line of sight on hex maps", "hand limits"),
                ("We are four, two of them new to the hobby.", "The rulebook contradicts its own example.",
                 "It came up twice in one evening.", "We settled it with a coin, which pleased nobody.",
                 "The second edition changed the wording."),
            ),
            Board(
                "Game Nights", "Hosting, teaching and finding players",
                ("a game night for eight", "teaching heavy games", "snacks that leave no grease",
                 "playing with grandparents",
                 "a library games club", "short games for lunch breaks", "sore losers", "storage for big boxes",
                 "painted miniatures", "a monthly campaign", "games for a long train ride", "sleeving cards"),
                ("Our table seats six at a squeeze.", "Half of the group has to leave by ten.",
                 "We meet every second Thursday.", "Somebody always forgets the rules between sessions.",
                 "I have a shelf of unplayed boxes."),
            ),
        ),
        ("Read the designer's example, it wins over the summary card.", "Play an open first round and then start over.",
         "Set a timer and everybody will thank you.", "We let the youngest player decide, it works.",
         "Put the rule on an index card next to the board.", "Choose something shorter and play it twice.",
         "Split into two tables as soon as you are six.", "Teach the goal first and the exceptions last."),
    ),
    Subject(
        "Home Repair", "Fix it, patch it, paint it", "#7a5c3a",
        (
            Board(
                "Plumbing and Heating", "Drips, draughts and cold radiators",
                ("a dripping mixer tap", "bleeding radiators", "a slow kitchen drain", "frozen outside pipes",
                 "a noisy cistern",
                 "limescale in the shower head", "thermostat valves", "a leaking washing machine hose",
                 "low pressure upstairs",
                 "a wood stove flue", "lagging the loft pipes", "condensation on cold walls"),
                ("The house is from the thirties and nothing is square.", "I have turned the water off at the main.",
                 "The plumber cannot come before the end of the month.", "It started after the cold snap.",
                 "I can solder, but I would rather not."),
            ),
            Board(
                "Walls, Floors and Paint", "Surfaces and how to save them",
                ("cracked plaster above a door", "squeaky floorboards", "lime wash", "stripping old varnish",
                 "a sagging shelf",
                 "tiles on an uneven wall", "sash windows that stick", "filling wide gaps", "painting over damp stains",
                 "cork flooring", "a wobbly banister", "sanding stairs"),
                ("We rent, so it has to be reversible.", "I have a free weekend and a borrowed sander.",
                 "The previous owner painted over everything.", "It looks fine until the sun comes in low.",
                 "I do not want to lift the whole floor."),
            ),
        ),
        ("Take a photograph before you take it apart.", "Turn the water off at the main first, not at the tap.",
         "Two thin coats, and a day between them.", "Screw it, do not nail it.",
         "Let the filler dry twice as long as the tin says.", "A washer costs next to nothing, replace it anyway.",
         "Sand along the grain and hoover before you paint.", "Draw the shape on card before you cut anything."),
    ),
    Subject(
        "Music", "Playing it and listening to it", "#b0305c",
        (
            Board(
                "Playing and Practice", "Scales, strings and sore fingers",
                ("barre chords", "learning the accordion at fifty", "a choir without auditions", "guitar strings that buzz",
                 "practising with a metronome", "ukulele for children", "sight-reading", "a quiet practice room",
                 "fiddle bows",
                 "playing by ear", "stage fright", "a second-hand clarinet"),
                ("I practise for half an hour most evenings.", "My teacher moved away in the summer.",
                 "The flat has thin walls.", "I can read the notes, only slowly.",
                 "We play together once a month, badly and happily."),
            ),
            Board(
                "Listening", "Records, radio and live evenings",
                ("a first turntable", "lullabies", "radio plays", "brass bands", "records from a flea market",
                 "small speakers",
                 "song cycles", "folk nights", "film scores", "headphones for long evenings", "cataloguing a collection",
                 "cleaning old vinyl"),
                ("The room is small and square.", "I grew up with a kitchen radio and nothing else.",
                 "I would like to hear more than the usual ten pieces.", "The sleeve is worn, but it plays well.",
                 "Friends keep recommending the same two albums."),
            ),
        ),
        ("Slow down until it is easy, then go one notch slower.", "Change all the strings at once.",
         "Record yourself, it is painful and it helps.", "Move the speakers away from the corner.",
         "Ten minutes every day beat an hour on Sunday.", "Listen to the second movement first.",
         "Ask at the library, ours lends instruments.", "Clean it with distilled water and a soft brush."),
    ),
    Subject(
        "Photography", "Light, lenses and prints", "#2d7f86",
        (
            Board(
                "Cameras and Lenses", "What to buy, what to keep, what to repair",
                ("a fast normal lens", "film cameras without batteries", "a tripod that folds small", "macro tubes",
                 "sensor dust",
                 "a first rangefinder", "neutral density filters", "wide angles indoors", "a padded strap",
                 "old manual lenses",
                 "pinhole bodies", "spare batteries in the cold"),
                ("I photograph mostly people and mostly indoors.", "My budget is small, used is fine.",
                 "The shutter sticks below five degrees.", "I carry it every day, so it must be light.",
                 "I sold the old one and regret it."),
            ),
            Board(
                "Pictures and Critique", "Show your work and say how it was made",
                ("fog over the harbour", "portraits by a window", "a series on shop signs", "night markets",
                 "birds at the feeder",
                 "black-and-white conversion", "double exposures", "printing at home", "star trails", "a photograph a day",
                 "reflections in puddles", "contact sheets"),
                ("It was taken at dawn, without a tripod.", "I cropped it square in the end.",
                 "The highlights are close to gone.", "I am not sure about the horizon.", "The light lasted four minutes."),
            ),
        ),
        ("Step closer and then once more.", "Expose for the highlights and lift the rest.",
         "A second-hand tripod of steel outlives three new ones.", "Wait for the shadow to leave the wall.",
         "Print it large before you decide.", "Keep a spare battery in an inside pocket.",
         "Turn the stabiliser off on a tripod.", "Leave the crop loose, you can cut later."),
    ),
)  # fmt: skip

HELP_CATEGORY = ("Forum Help", "House rules, how-tos and suggestions", "#555555")

HELP_TOPICS = (
    ("House rules, please read before posting",
     "Be kind, stay on topic, and report what you find troubling instead of answering it."),
    ("How to add a poll to your topic", "Use the poll button in the editor. Give every choice a line of its own."),
    ("Suggestion: a board for knitting",
     "There are at least five of us. Could we have a board of our own, next to Home Repair?"),
    ("How do private topics work?", "I would like to write to one member only. Is that possible, and who else can read it?"),
    ("Where do I change my time zone?", "All the times seem to be an hour off for me. I searched and found nothing."),
    ("Meet-up in spring: collecting ideas",
     "A walk, a shared lunch, a games table afterwards? Say what you would come for."),
    ("Please use clear titles", "A title such as \"help!!\" helps nobody. Name the thing and the trouble in one line."),
    ("Quiet week: maintenance on the server", "The forum will be read only for an evening. Nothing will be lost."),
    ("Introduce yourself here",
     "Tell us what you like to do and where you learned about this place. No real addresses, please."),
)  # fmt: skip

HELP_REPLIES = (
    "Thank you, that was not obvious.", "I had been wondering about this as well.", "Could this be pinned for newcomers?",
    "Works for me, thanks to everybody who keeps the place running.", "Good to know. I would not have found it on my own.",
    "I agree with every word.", "May I suggest a short summary in the first post?", "It took me a while to find this topic.",
    "Happy to help if somebody is needed.", "Seen and understood.",
)  # fmt: skip

POLL_REPLIES = (
    "Voted. I am surprised by the result so far.", "Hard to choose just one.", "It depends on the season for me.",
    "I used to think otherwise, but I changed my mind last year.", "Nice idea for a poll.",
    "Where is the answer for the rest of us?",
    "I asked at home and we do not agree.", "Closer than I thought.",
)  # fmt: skip

FRAMES = (
    ("Advice wanted: {thing}", "I could do with some advice on {thing}.", "What would you do first?"),
    ("What I learned about {thing} this year", "A short report on {thing}, for whoever comes after me.",
     "Did I miss anything?"),
    ("Is it worth the effort? {Thing}", "Everybody tells me to forget about {thing}.",
     "Is it worth it, in your experience?"),
    ("{Thing}: where do I start?", "I am new to this and want to understand {thing}.", "Where would you start?"),
    ("Second thoughts about {thing}", "I was sure about {thing} until last week.",
     "Has anybody changed their mind as well?"),
    ("{Thing} for beginners", "Let us collect what beginners should know about {thing}.", "What do you wish you had known?"),
    ("Trouble with {thing} again", "It is me again, and again it is about {thing}.", "What am I doing wrong?"),
    ("Share your experience with {thing}", "I would like to hear how others deal with {thing}.", "How do you go about it?"),
)  # fmt: skip

REPLY_OPENERS = (
    "I had the very same question about {thing}.", "Good topic.", "We talked about {thing} at length last winter.",
    "Thanks for bringing this up.", "I can only speak for myself here.", "This is easier than it looks.",
    "I disagree a little with what was said above.", "Following this, as I am in the same boat.",
    "Somebody gave me this hint years ago.", "My first attempt was a disaster.",
    "Nice to see more people interested in {thing}.",
    "Short answer: yes. Long answer: it depends.",
)  # fmt: skip

REPLY_CLOSERS = (
    "Let us know how it goes.", "Hope this helps.", "Your mileage may vary.", "I would do it again.", "Good luck!",
    "Happy to answer more questions.", "That is all I know.", "Do report back.", "It made all the difference for me.",
    "Others here know more than I do.",
)  # fmt: skip

FACTS = {
    "price": "I paid {value} crowns for everything, delivery included.",
    "days": "It took me {value} days from start to finish.",
    "town": "I found what I needed in a small shop in {value}.",
}
"""Kind → the sentence that states it. Topics and tasks ask for `{value}`."""

POLLS = (
    ("Which pot for balcony tomatoes?", "Vegetables and Herbs", "tomatopot", ("Terracotta", "Plastic", "Grow bag",
     "Wooden box")),
    ("How often do you clean your chain?", "Repairs and Maintenance", "chain", ("Every week", "Every month",
     "When it squeaks", "Never")),
    ("Favourite loaf for everyday?", "Baking", "loaf", ("Rye", "White", "Wholemeal", "Seeded")),
    ("Boots or shoes on day walks?", "Gear and Clothing", "boots", ("Boots", "Trail shoes", "Sandals")),
    ("Best night for the games club?", "Game Nights", "night", ("Tuesday", "Wednesday", "Thursday", "Sunday afternoon")),
    ("Brush or roller for doors?", "Walls, Floors and Paint", "doors", ("Brush", "Roller", "Both")),
    ("What do you practise first?", "Playing and Practice", "practice", ("Scales", "The hard passage", "An old favourite")),
    ("Film or digital this summer?", "Cameras and Lenses", "film", ("Film", "Digital", "Both", "My phone")),
)  # fmt: skip
"""(title, board, name in the markup, choices)."""

PRIVATE_TOPICS = (
    ("Lift to the spring walk", "I can take two people from {town}. Shall I keep a seat for you?",
     "Yes please, {time} at the station would suit me."),
    ("The lens you wanted to see", "You can have it for {price} crowns if you collect it.",
     "Deal. I will come by on {day}."),
    ("Seeds for you", "I have put aside beans and two kinds of squash. My place is in {town}.",
     "Wonderful, I will bring {price} jars of jam."),
    ("Rules for Thursday", "Could you teach the auction game? We start at {time}.",
     "Gladly. I bring the cards, and on {day} I print the summary."),
    ("Borrowing the sander", "It is free from {day} on. The deposit is {price} crowns.",
     "Thank you, I will fetch it at {time}."),
    ("Choir rehearsal moved", "The next rehearsal is on {day}, in the hall at {town}.",
     "Noted. Does it still begin at {time}?"),
)  # fmt: skip
