"""From a question and its passages to an answer whose every citation was checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from itza_git.answering.answer import Answer, Statement
from itza_git.models.protocol import ChatServer
from itza_git.records import Passage

NUM_CTX = 4096


def answer(
    question: str,
    passages: Sequence[tuple[Passage, str]],
    server: ChatServer,
    model: str,
    *,
    num_ctx: int = NUM_CTX,
    weak: bool = False,
    force: bool = False,
) -> Iterator[Statement | Answer]:
    """The statements as they are checked, then the whole Answer as the last item.

    passages are ranked, best first, each with its text: the lines first..last as the blob has them. weak says that
    retrieval found nothing that answers; the model is then not called unless force. Raises `ModelError` when the
    server gives nothing at all.
    """
    raise NotImplementedError
