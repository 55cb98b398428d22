"""Stand-in for the forum: login, user pages, posts. Labels and element ids are those that WebArena's tasks look for."""

from __future__ import annotations

import html

from tests.webarena.sites.server import NOT_FOUND, Ask, Reply, Site, page, redirect

USER = "MarvelsGrantMan136"


class Reddit(Site):
    cookie = "REDDIT"
    account = (USER, "test1234")

    def reset(self) -> None:
        super().reset()
        self.bio = "hello"
        self.posts: dict[str, tuple[str, str]] = {}
        self.forums: dict[str, tuple[str, str]] = {}

    def handle(self, ask: Ask) -> Reply:
        parts = ask.path.strip("/").split("/")
        match (ask.method, *parts):
            case ("GET", ""):
                top = f"<a href='/user/{ask.user}'>{ask.user}</a>" if ask.user else "<a href='/login'>Log in</a>"
                return page("Forum", f"{top} <a href='/forums'>Forums</a> <a href='/submit'>Submit</a>")
            case ("GET", "login"):
                return page("Log in", LOGIN)
            case ("POST", "login_check"):
                return self.sign_in(ask.form.get("_username", ""), ask.form.get("_password", ""), "/", "/login")
            case ("GET", "forums"):
                return page("Forums", "<h1>List of forums</h1>")
            case ("GET", "user", str(), "account"):
                return page("Account", "<button>Delete</button>") if ask.user else redirect("/login")
            case ("GET", "user", str() as name):
                edit = "<form method='post' action='/edit_biography'><label>Biography <textarea name='bio'></textarea>"
                bio = f"<div class='user-bio__biography'>{html.escape(self.bio)}</div>"
                return page(name, bio + edit + "</label><button>Save</button></form>")
            case ("POST", "edit_biography"):
                self.bio = ask.form.get("bio", "")
                return redirect(f"/user/{USER}")
            case ("GET", "submit"):
                return page("Create submission", SUBMIT)
            case ("POST", "submit"):
                self.posts[f"{ask.form['forum']}/1"] = (ask.form["title"], ask.form.get("body", ""))
                return redirect(f"/f/{ask.form['forum']}/1/a-post")
            case ("GET", "f", str() as forum, "edit") if forum in self.forums:
                description, sidebar = self.forums[forum]
                fields = f"<input id='forum_description' value='{description}'>"
                return page(forum, fields + f"<textarea id='forum_sidebar'>{sidebar}</textarea>")
            case ("GET", "f", str() as forum):
                return page(forum, f"<h1>{html.escape(forum)}</h1>")
            case ("GET", "f", str() as forum, str() as number, *_) if f"{forum}/{number}" in self.posts:
                title, body = self.posts[f"{forum}/{number}"]
                text = f"<h1>{html.escape(title)}</h1><p>{html.escape(body)}</p>"
                return page(title, f"<article class='submission__inner'>{text}</article>")
        return NOT_FOUND


LOGIN = """<form method=post action=/login_check><label>Username <input name=_username></label>
<label>Password <input type=password name=_password></label><button>Log in</button></form>"""

SUBMIT = """<form method=post action=/submit><label>Title <input name=title></label>
<label>Forum <input name=forum></label><label>Body <textarea name=body></textarea></label>
<button>Create submission</button></form>"""
