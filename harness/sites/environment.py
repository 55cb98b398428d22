"""The applications' own Python environment: made once, checked cheaply, never imported from ours.

    Environment(folder).install()   venv + pinned requirements.txt, stamped when complete
    Environment(folder).problem()   why it cannot be used, empty if it can
    Environment(folder).python      what runs apps/<name>/build.py and serve.py

Apart from ours because pins would fight, and because Trac answers nothing beside the `python-multipart` of BrowserGym.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from harness.errors import NotReadyError

REQUIREMENTS = Path(__file__).parent / "requirements.txt"
DEFAULT_FOLDER = Path(".venv-sites")
INSTALL_SECONDS = 900.0


class Environment:
    """A virtual environment in `folder`."""

    def __init__(self, folder: Path = DEFAULT_FOLDER) -> None:
        # Not resolved: the venv's python is a link to the one that made it, and following it would leave the venv.
        self.folder = folder.absolute()

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def _stamp(self) -> Path:
        return self.folder / ".installed"

    def problem(self) -> str:
        """Why the environment cannot be used; empty if it is complete and of these requirements."""
        if not self.python.exists():
            return f"{self.folder.name} is not installed"
        try:
            stamped = self._stamp.read_text(encoding="utf-8")
        except OSError:
            return f"{self.folder.name} is incomplete: its installation was interrupted"
        return "" if stamped == _fingerprint() else f"{self.folder.name} was installed from other requirements"

    def require(self) -> None:
        """Raise NotReadyError unless it can be used."""
        if problem := self.problem():
            raise NotReadyError(problem, fix="harness sites install")

    def install(self) -> bool:
        """Make it complete. True if there was something to do; an interrupted installation is taken up again."""
        if not self.problem():
            return False
        self._stamp.unlink(missing_ok=True)
        if not self.python.exists():
            shutil.rmtree(self.folder, ignore_errors=True)
            _run([sys.executable, "-m", "venv", str(self.folder)], "make a Python environment")
        _run([*self._installer(), "-r", str(REQUIREMENTS)], "install the applications")
        self._stamp.write_text(_fingerprint(), encoding="utf-8")
        return True

    def _installer(self) -> list[str]:
        """uv where it is at hand (seconds), else the environment's own pip (a minute)."""
        beside = Path(sys.executable).with_name("uv")
        if uv := str(beside) if beside.exists() else shutil.which("uv"):
            return [uv, "pip", "install", "--quiet", "--python", str(self.python)]
        return [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]


def _fingerprint() -> str:
    """The pinned versions and this Python, without comments: rewording one reinstalls nothing."""
    pins = [line.partition("#")[0].strip() for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines()]
    text = "\n".join([*filter(None, pins), sys.version.split()[0]])
    return hashlib.sha256(text.encode()).hexdigest()


def _run(command: list[str], what: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotReadyError(f"cannot {what}: {error}", fix="see to disk space and a package index, try again") from error
    if done.returncode:
        said = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        raise NotReadyError(
            f"cannot {what}: {said[-1] if said else f'exit {done.returncode}'}", fix=f"by hand: {' '.join(command)}"
        )
