"""The index folder: packs of chunks keyed by blob, views of trees. Byte by byte in docs/format.md."""

from itza_git.store.pack import Pack, PackBuilder
from itza_git.store.recipe import Recipe
from itza_git.store.space import Space
from itza_git.store.view import View

__all__ = ["Pack", "PackBuilder", "Recipe", "Space", "View"]
