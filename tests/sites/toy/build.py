"""A first state in a second: one table, one file that changes, one that does not."""

import argparse
import json
import sqlite3
import sys
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--world", type=Path)
parser.add_argument("--out", type=Path)
arguments = parser.parse_args()
world = json.loads(arguments.world.read_text())
if world.get("fails"):
    print("a word before the end", file=sys.stderr)
    sys.exit("the loader does not like this world")
(arguments.out / "index" / "empty").mkdir(parents=True)
(arguments.out / "index" / "segment-1").write_text("first")
(arguments.out / "picture.png").write_bytes(b"\x89PNG" * 1000)
database = sqlite3.connect(arguments.out / "shop.sqlite3")
database.execute(f"PRAGMA journal_mode={world.get('journal', 'DELETE')}")
database.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)")
database.executemany("INSERT INTO note (text) VALUES (?)", [(text,) for text in world["notes"]])
database.commit()
database.close()
