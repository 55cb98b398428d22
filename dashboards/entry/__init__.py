"""Holds the script that Streamlit runs, alone: Streamlit puts a script's directory first on the import path."""
