"""Makes a tracker's files from its world: `python build.py --world WORLD.json --out DIR`. Runs in the sites' environment only.

    DIR/project/            a Trac environment
      conf/trac.ini         how it looks and what it may do
      conf/passwords        who may sign in, through TracAccountManager's form
      templates/            what every page's head has beside Trac's own
      db/trac.db            tickets, wiki, milestones, reports

The same world gives the same rows. Rows go in through Trac's own connection, with the times that the world says: through
its models every ticket would have been reported today.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

from trac.env import Environment
from trac.perm import DefaultPermissionStore

# Who may do what. Nobody but ifenwick may do what is written to trac.ini or to the list of permissions.
PERMISSIONS = {
    "anonymous": (
        "WIKI_VIEW", "TICKET_VIEW", "MILESTONE_VIEW", "ROADMAP_VIEW", "REPORT_VIEW", "REPORT_SQL_VIEW", "TIMELINE_VIEW",
        "SEARCH_VIEW",
    ),
    "members": ("TICKET_CREATE", "TICKET_APPEND"),
    "developers": ("TICKET_CREATE", "TICKET_MODIFY", "TICKET_EDIT_CC", "WIKI_CREATE", "WIKI_MODIFY"),
    "managers": (
        "developers", "TICKET_ADMIN", "MILESTONE_ADMIN", "REPORT_CREATE", "REPORT_MODIFY", "WIKI_DELETE", "WIKI_RENAME",
    ),
}  # fmt: skip

OPTIONS = (
    ("components", "acct_mgr.api.*", "enabled"),
    ("components", "acct_mgr.htfile.htpasswdstore", "enabled"),
    ("components", "acct_mgr.web_ui.loginmodule", "enabled"),
    ("components", "trac.web.auth.loginmodule", "disabled"),
    ("components", "trac.about.aboutmodule", "enabled"),
    # Its panel and its macros show files and settings of the machine
    ("components", "trac.admin.web_ui.pluginadminpanel", "disabled"),
    ("components", "trac.versioncontrol.*", "disabled"),
    ("account-manager", "htpasswd_file", "conf/passwords"),
    ("account-manager", "hash_method", "HtPasswdHashMethod"),
    ("account-manager", "password_store", "HtPasswdStore"),
    ("account-manager", "persistent_sessions", "disabled"),
    ("account-manager", "refresh_passwd", "disabled"),
    ("header_logo", "src", ""),
    ("logging", "log_type", "stderr"),
    ("logging", "log_level", "WARNING"),
    ("mainnav", "browser", "disabled"),
    ("metanav", "help", "disabled"),
    ("metanav", "about", "disabled"),
    ("notification", "smtp_enabled", "disabled"),
    ("project", "footer", ""),
    ("query", "items_per_page", "50"),
    ("ticket", "default_owner", "< default >"),
    ("ticket", "default_component", ""),
    ("ticket", "default_type", "defect"),
    ("ticket", "restrict_owner", "enabled"),
    ("timeline", "default_daysback", "14"),
    # A preview that appears while nobody acts would make a page depend on the clock; the Preview button is there
    ("trac", "auto_preview_timeout", "0"),
    ("trac", "database", "sqlite:db/trac.db?synchronous=off"),
    ("trac", "default_date_format", "iso8601"),
    # "3 months ago" would be right on one day only
    ("trac", "default_dateinfo_format", "absolute"),
    ("trac", "default_handler", "WikiModule"),
    ("trac", "default_language", "en"),
    ("trac", "default_timezone", "GMT"),
    ("trac", "permission_policies", "DefaultWikiPolicy, DefaultTicketPolicy, DefaultPermissionPolicy, LegacyAttachmentPolicy"),
    ("trac", "show_full_names", "enabled"),
    ("trac", "show_email_addresses", "disabled"),
    ("trac", "use_chunked_encoding", "disabled"),
)

PRIORITIES = ("blocker", "critical", "major", "minor", "trivial")
TYPES = ("defect", "enhancement", "task")
RESOLUTIONS = ("fixed", "invalid", "wontfix", "duplicate", "worksforme")


def build(world: dict, out: Path) -> None:
    """`world` is harness.sites.worlds.tracker.TrackerWorld as JSON. `out` is emptied first."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    named = (
        ("project", "name", world["project"]),
        ("project", "descr", world["tagline"]),
        ("header_logo", "alt", world["project"]),
    )
    environment = Environment(str(out / "project"), create=True, options=[*OPTIONS, *named])
    shutil.copy(Path(__file__).with_name("site_head.html"), out / "project" / "templates")
    (out / "project" / "conf" / "passwords").write_text(_passwords(world["accounts"]), encoding="utf-8")
    with environment.db_transaction as db:
        for table in ("permission", *_tables(world)):
            db(f"DELETE FROM {table}")  # Trac's own examples
        for table, rows in _tables(world).items():
            columns = list(rows[0])
            marks = ",".join(["%s"] * len(columns))
            db.executemany(f"INSERT INTO {table} ({','.join(columns)}) VALUES ({marks})", [tuple(row.values()) for row in rows])
    store = DefaultPermissionStore(environment)
    for subject, actions in PERMISSIONS.items():
        for action in actions:
            store.grant_permission(subject, action)
    for account in world["accounts"]:
        store.grant_permission(account["username"], account["group"])
    environment.shutdown()


def _passwords(accounts: list[dict]) -> str:
    """An htpasswd file of those who have a password."""
    lines = []
    for account in accounts:
        if account["password"]:
            digest = base64.b64encode(hashlib.sha1(account["password"].encode()).digest()).decode()
            lines.append(f"{account['username']}:{{SHA}}{digest}\n")
    return "".join(lines)


def _tables(world: dict) -> dict[str, list[dict]]:
    """Table → its rows."""
    tickets, people = world["tickets"], world["accounts"]
    return {
        "session": [{"sid": who["username"], "authenticated": 1, "last_visit": 0} for who in people],
        "session_attribute": [
            {"sid": who["username"], "authenticated": 1, "name": name, "value": who[name]}
            for who in people
            for name in ("name", "email")
        ],
        "enum": [
            {"type": kind, "name": name, "value": str(value), "description": ""}
            for kind, names in (("ticket_type", TYPES), ("priority", PRIORITIES), ("resolution", RESOLUTIONS))
            for value, name in enumerate(names, 1)
        ],
        "component": [{key: entry[key] for key in ("name", "owner", "description")} for entry in world["components"]],
        "milestone": [
            {
                "name": entry["name"],
                "due": _micro(entry["due"] and f"{entry['due']} 18:00:00"),
                "completed": _micro(entry["completed"]),
                "description": entry["description"],
            }
            for entry in world["milestones"]
        ],
        "version": [
            {"name": entry["name"], "time": _micro(entry["released"]), "description": entry["description"]}
            for entry in world["versions"]
        ],
        "report": [
            {"author": None, **{key: entry[key] for key in ("title", "query", "description")}} for entry in world["reports"]
        ],
        "ticket": [_ticket(ticket) for ticket in tickets],
        "ticket_change": [row for ticket in tickets for change in ticket["changes"] for row in _change(ticket["id"], change)],
        "wiki": [
            {
                "name": page["name"],
                "version": version["number"],
                "time": _micro(version["time"]),
                "author": version["author"],
                "text": version["text"],
                "comment": version["comment"],
                "readonly": 0,
            }
            for page in world["pages"]
            for version in page["versions"]
        ],
    }


def _ticket(ticket: dict) -> dict:
    kept = (
        "id", "type", "component", "priority", "owner", "reporter", "cc", "version", "milestone", "status", "resolution",
        "summary", "keywords",
    )  # fmt: skip
    return {
        **{key: ticket[key] for key in kept},
        # As a browser sends it: else the first edit of anything would change the description too.
        "description": ticket["description"].replace("\n", "\r\n"),
        "severity": "",
        "time": _micro(ticket["created"]),
        "changetime": _micro(ticket["changed"]),
    }


def _change(ticket: int, change: dict) -> list[dict]:
    """Trac keeps a comment as a field whose old value is its number."""
    fields = [*change["fields"], ("comment", str(change["number"]), change["comment"])]
    when = _micro(change["time"])
    return [
        {"ticket": ticket, "time": when, "author": change["author"], "field": name, "oldvalue": old, "newvalue": new}
        for name, old, new in fields
    ]


def _micro(text: str) -> int:
    """`2025-03-11 09:30:00` (UTC) in microseconds since 1970, as Trac keeps times; 0 for none."""
    if not text:
        return 0
    return int(datetime.strptime(text, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).timestamp()) * 1_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--world", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    build(json.loads(arguments.world.read_text(encoding="utf-8")), arguments.out.resolve())


if __name__ == "__main__":
    main()
