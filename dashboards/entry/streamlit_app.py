"""Streamlit's main script: `streamlit run streamlit_app.py -- RUNS`. Started by `harness dashboard`."""

import sys
from pathlib import Path

from dashboards.app import main

main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs"))
