"""The results in a browser: a Streamlit app that shows what `results` and `audits` computed, and computes nothing itself.

    entry/streamlit_app.py   the script that Streamlit runs: one line
    app          navigation, the bar with the chosen runs, the border around pages
    pages/       one module per page; each draws itself from a `Context`
    context      what was chosen: the runs directory, run A, run B
    loading      runs as read, cached by what is on disk
    tables, charts, states, trees, pictures, downloads      how things are shown
    safe         what may be shown of untrusted text, and how
    links        from page to page
    server       starts Streamlit in this process; the command is harness.cli.dashboard

Reads and never writes run data. Whatever comes from a page, a model or a file name is text and nothing else: see `safe`.
"""
