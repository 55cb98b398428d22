"""Stand-in for GitLab: login, to-do list, an issue, a merge request whose notes go through JSON, project members."""

from __future__ import annotations

import html

from tests.webarena.sites.server import NOT_FOUND, Ask, Reply, Site, data, page, redirect


class Gitlab(Site):
    cookie = "GITLAB"
    account = ("byteblaze", "hello1234")

    def reset(self) -> None:
        super().reset()
        self.notes: list[str] = []
        self.members = {"yjlou": "Developer"}

    def handle(self, ask: Ask) -> Reply:
        match (ask.method, ask.path):
            case ("GET", "/users/sign_in"):
                return page("Sign in", LOGIN)
            case ("POST", "/users/sign_in"):
                form = ask.form
                return self.sign_in(form.get("login", ""), form.get("password", ""), "/", "/users/sign_in")
            case ("GET", "/explore"):
                return page("Explore", "<h1>Explore projects</h1>")
        if ask.user is None:
            return redirect("/users/sign_in")
        match (ask.method, ask.path):
            case ("GET", "/"):
                return page("Projects", HOME)
            case ("GET", "/-/profile"):
                return page("Edit Profile", "<h1>Edit Profile</h1>")
            case ("GET", "/dashboard/todos"):
                return page("To-Do List", "<h1>To-Do List</h1>")
            case ("GET", "/a11yproject/a11yproject.com/-/issues/719"):
                return page("Issue 719", "<span>Closed</span>")
            case ("GET", "/byteblaze/empathy-prompts/-/issues/8"):
                return page("Issue 8", "<span>Open</span>")
            case ("GET", "/primer/design/-/merge_requests/450"):
                return page("Octovisuals", NOTES.replace("NOTES", "".join(_note(n) for n in self.notes)))
            case ("POST", "/primer/design/notes"):
                self.notes.append(ask.json["note"]["note"])
                return data({"id": len(self.notes)})
            case ("GET", "/byteblaze/dotfiles/-/project_members"):
                return page("Members", f"<table>{''.join(_member(*m) for m in self.members.items())}</table>{INVITE}")
            case ("POST", "/byteblaze/dotfiles/-/project_members"):
                self.members[ask.form["account"]] = ask.form["role"]
                return redirect(ask.path)
        return NOT_FOUND


def _note(text: str) -> str:
    return f"<li class=note>{html.escape(text)}</li>"


def _member(account: str, role: str) -> str:
    label = f"<td data-label=Account><span class=gl-avatar-labeled-sublabel>@{account}</span></td>"
    return f"<tr>{label}<td class=col-max-role><span>{role}</span></td></tr>"


LOGIN = """<h1>Sign in</h1><form method=post><label>Username or email <input name=login></label>
<label>Password <input type=password name=password></label><button>Sign in</button></form>"""

HOME = """<h1>Projects</h1><a href="/dashboard/todos">To-Do List</a>
<a href="/primer/design/-/merge_requests/450">Octovisuals</a>"""

NOTES = """<h1>Octovisuals</h1><ul id=notes-list>NOTES</ul><label>Write a comment <textarea id=note></textarea></label>
<button id=comment>Comment</button><script>
document.getElementById("comment").onclick = async () => {
  const note = {note: document.getElementById("note").value, noteable_type: "MergeRequest"};
  await fetch("/primer/design/notes?target_id=139245&target_type=merge_request",
    {method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify({note})});
  location.reload();
};
</script>"""

INVITE = """<form method=post><label>Account <input name=account></label><label>Role <input name=role></label>
<button>Invite</button></form>"""
