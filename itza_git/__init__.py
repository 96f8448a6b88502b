"""Ask a git repository how it works; see `Itza` in itza_git.api."""

__version__ = "0.1.0"
