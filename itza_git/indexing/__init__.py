"""From a tree to packs: which blobs are missing, and what is in them."""

from itza_git.indexing.policy import Policy
from itza_git.indexing.refresh import Progress, Refreshed, Refresher, Watch

__all__ = ["Policy", "Progress", "Refreshed", "Refresher", "Watch"]
