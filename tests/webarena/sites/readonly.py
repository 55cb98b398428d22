"""Stand-ins for the map and the encyclopedia, which have no login, and for the reset server."""

from __future__ import annotations

from tests.webarena.sites.server import NOT_FOUND, Ask, Reply, Site, page

TILE = bytes.fromhex("89504e470d0a1a0a")


class Map(Site):
    def reset(self) -> None:
        super().reset()
        self.tiles = True

    def handle(self, ask: Ask) -> Reply:
        if ask.path == "/":
            return page("OpenStreetMap", "<h1>OpenStreetMap</h1><a href='/directions'>Directions</a>")
        if ask.path == "/directions":
            return page("OpenStreetMap", DIRECTIONS)
        if ask.path.startswith("/relation/"):
            return page("OpenStreetMap", f"<h1>Relation {ask.path.rsplit('/', 1)[-1]}</h1>")
        if ask.path.startswith("/tile/") and self.tiles:
            return Reply(TILE, media="image/png")
        return NOT_FOUND


DIRECTIONS = """<h1>Directions</h1><div id=content>
<select class=routing_engines aria-label=Engine><option>Bicycle<option>Car<option>Foot</select></div>
<label>From <input name=route_from></label><label>To <input name=route_to></label>"""


class Wikipedia(Site):
    PATH = "/wikipedia_en_all_maxi_2022-05/A/User:The_other_Kiwix_guy/Landing"

    @property
    def url(self) -> str:
        return self.origin + self.PATH

    def handle(self, ask: Ask) -> Reply:
        return page("Wikipedia", "<h1>Welcome to Wikipedia</h1>") if ask.path == self.PATH else NOT_FOUND


class Homepage(Site):
    """Also the reset server: /reset starts one, /status is ready after `polls_needed` questions."""

    def reset(self) -> None:
        super().reset()
        self.polls_needed = 0
        self.resets = 0

    def handle(self, ask: Ask) -> Reply:
        if ask.path == "/reset":
            self.resets += 1
            return Reply("started", 200 if self.resets == 1 else 418, "text/plain")
        if ask.path == "/status":
            self.polls_needed -= 1
            return Reply("Ready for duty!" if self.polls_needed < 0 else "Resetting", 200, "text/plain")
        return page("Homepage", "<h1>Homepage</h1>") if ask.path == "/" else NOT_FOUND
