"""From a question and a tree to ranked passages."""

from itza_git.search.corpus import Corpus, Filter
from itza_git.search.question import Question
from itza_git.search.retrieval import Found, search

__all__ = ["Corpus", "Filter", "Found", "Question", "search"]
