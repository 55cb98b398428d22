"""Draw docs/img/report.png: what `harness report RUN` prints, as a picture.  python scripts/readme_picture.py RUN

Rich writes the terminal as SVG; Chromium, which every user of this project has, makes the PNG.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from rich.console import Console

from harness.cli.report import print_results
from harness.envs.chromium import find_chromium
from harness.envs.config import BrowserConfig
from harness.envs.session import BrowserSession

TARGET = Path(__file__).parent.parent / "docs" / "img" / "report.png"
COLUMNS, WIDTH, HEIGHT = 132, 1630, 1010


def main(run: Path) -> None:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(f"$ harness report {run.name}", style="bold", highlight=False)
    print_results(console, run)
    svg = console.export_svg(title="harness report")
    session = BrowserSession(BrowserConfig(device_scale_factor=1.5), find_chromium())
    try:
        page = session.context({"viewport": {"width": WIDTH, "height": HEIGHT}}).new_page()
        page.set_content(
            f"<style>body{{margin:0;overflow:hidden}} @font-face{{font-family:'Fira Code';src:local('monospace')}}</style>{svg}"
        )
        TARGET.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(TARGET))
    finally:
        session.close()
    print(TARGET)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
