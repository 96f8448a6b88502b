"""From a question and its passages to an answer whose every citation was checked."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from itza_git.answering.answer import Answer, Rejected, Statement, conclude
from itza_git.answering.attribution import Attributor
from itza_git.answering.evidence import Vectors
from itza_git.answering.prompt import NO_NOTES, NUM_PREDICT, Block, Notes, budget, fewest_tokens, messages, select
from itza_git.errors import BadResponse, ModelError, ServerUnreachable
from itza_git.models.protocol import ChatServer, Message, PromptTooLong, Usage
from itza_git.records import Passage
from itza_git.search.forms import forms
from itza_git.search.question import Question
from itza_git.words import words

# Always the same, because Ollama loads the model anew when it changes.
NUM_CTX = 4096
MOST_MISSING_WORDS = 6
# So many of the best passages are tried again after a NO_SE that retrieval does not bear out; of three, two.
RETRY_PASSAGES = 3


def answer(
    question: str,
    passages: Sequence[tuple[Passage, str]],
    server: ChatServer,
    model: str,
    *,
    num_ctx: int = NUM_CTX,
    weak: bool = False,
    force: bool = False,
    notes: Notes = NO_NOTES,
    vectors: Vectors | None = None,
) -> Iterator[Statement | Answer]:
    """The statements as they are checked, then the whole Answer as the last item.

    passages are ranked, best first, each with its text: the lines first..last as the blob has them, or what a commit
    says. notes stand in their headers; vectors help to tell which passage a sentence is about. weak says that
    retrieval found nothing that answers; the model is then not called unless force. Raises `ModelError` when the
    server gives nothing at all, `UsageError` when the question fills the window.
    """
    if not passages or (weak and not force):
        yield nothing_here(question, passages)
        return
    blocks = select(passages, budget(question, num_ctx), notes=notes)
    run = yield from _fitting(Run(question, blocks, model, num_ctx, vectors=vectors), server)
    if run.refused and run.fewer and not weak:
        # Many passages make a small model refuse what the best of them answer.
        again = Run(question, run.fewer, model, num_ctx, vectors=vectors)
        try:
            yield from again.statements(server)
            run = again.after(run)
        except ModelError as error:
            run.note(error)
    yield run.answer(weak)


def _fitting(run: Run, server: ChatServer) -> Generator[Statement, None, Run]:
    """The statements of the run; the run itself, or the first with fewer passages that the server's window takes."""
    while True:
        try:
            yield from run.statements(server)
            return run
        except PromptTooLong:
            # Dense text has more tokens than were reckoned with.
            if len(run.blocks) == 1:
                raise
            fewer = run.blocks[: len(run.blocks) // 2]
            run = Run(run.question, fewer, run.model, run.num_ctx, vectors=run.vectors)


def nothing_here(question: str, passages: Sequence[tuple[Passage, str]]) -> Answer:
    """The answer that retrieval alone gives when nothing here answers: `no_se`, and what is missing."""
    return Answer("no_se", missing=missing(question, passages), no_se_by="retrieval")


def missing(
    question: str,
    passages: Sequence[tuple[Passage, str]],
    otherwise: str = "no passage is close enough to the question",
) -> str:
    """What the passages lack: the words of the question that none of them holds; otherwise when they hold all."""
    asked = Question(question)
    if not asked.says_something:
        return "the question names nothing to look for"
    held = {word for passage, text in passages for word in words(f"{passage.path!r} {passage.symbol} {text}")}
    lacking = [asked.as_written(word) for word, said in asked.asked.items() if held.isdisjoint(_forms([word, *said]))]
    if not lacking:
        return otherwise
    return f"no passage mentions {', '.join(lacking[:MOST_MISSING_WORDS])}"


def _forms(said: Sequence[str]) -> list[str]:
    return [form for word in said for form in (word, *forms(word))]


class Run:
    """One call of the model."""

    def __init__(
        self,
        question: str,
        blocks: Sequence[Block],
        model: str,
        num_ctx: int,
        *,
        prompt: Sequence[Message] | None = None,
        shown: int | None = None,
        num_predict: int = NUM_PREDICT,
        vectors: Vectors | None = None,
    ) -> None:
        """prompt: what the model is told instead of the blocks; of those it has then seen the first ones, shown."""
        self.question = question
        self.blocks = blocks
        self.model = model
        self.num_ctx = num_ctx
        self.vectors = vectors
        self._num_predict = num_predict
        self._prompt = messages(question, blocks) if prompt is None else prompt
        self._attributor = Attributor(blocks, question, shown, vectors)
        self._kept: list[Statement] = []
        self._suspect = False

    def statements(self, server: ChatServer) -> Iterator[Statement]:
        """The checked statements as they come. Raises `ModelError` when there is none before the server fails."""
        cut = False
        try:
            for item in server.chat(self.model, self._prompt, num_ctx=self.num_ctx, num_predict=self._num_predict):
                if isinstance(item, Usage):
                    cut = item.reason == "length"
                    self._compare(item)
                    break
                yield from self._keep(self._attributor.feed(item))
                if self._attributor.done:
                    break
        except (BadResponse, ServerUnreachable) as error:
            if not self._kept:
                raise
            cut = self._suspect = True
            self._attributor.reject(str(error), "the server broke off")
        yield from self._keep(self._attributor.finish(cut))

    def _keep(self, statements: list[Statement]) -> list[Statement]:
        self._kept += statements
        return statements

    def _compare(self, usage: Usage) -> None:
        """Notice a prompt that the server cut to its window: the rules go first, and with them all trust."""
        read = usage.prompt_tokens
        # Some servers say nothing, or 0, of a prompt that they had in their cache.
        if read and (read < fewest_tokens(self._prompt) or read >= self.num_ctx):
            self._suspect = True
            self._attributor.reject("the prompt", f"the server read only {read} tokens of it")

    @property
    def refused(self) -> bool:
        """Whether the model said NO_SE, and nothing else that can be shown."""
        return self._attributor.said_no_se and not self._kept

    @property
    def fewer(self) -> Sequence[Block]:
        """The best two or three passages; none when there were no more than those."""
        return () if len(self.blocks) < RETRY_PASSAGES else self.blocks[: min(RETRY_PASSAGES, len(self.blocks) - 1)]

    def after(self, first: Run) -> Run:
        """This run, as the second try after one that refused: with what that one rejected, and trusted less."""
        self._suspect = True
        for one in first._attributor.rejected:
            self._attributor.reject(one.text, one.reason)
        return self

    def note(self, error: ModelError) -> None:
        """Note that the second try failed."""
        self._attributor.reject(str(error), "the server failed when it was asked again")

    def answer(self, weak: bool) -> Answer:
        """All of it, after the last statement."""
        status, confidence = conclude(self._kept)
        if weak or self._suspect or self._attributor.said_no_se:
            confidence = "low"
        rejected: tuple[Rejected, ...] = self._attributor.rejected
        if not self._kept or (status == "unverified" and self._attributor.said_no_se):
            return Answer("no_se", (), self._missing(), None, "model", rejected, self.model)
        return Answer(status, tuple(self._kept), self._attributor.missing, confidence, None, rejected, self.model)

    def _missing(self) -> str:
        if self._attributor.missing:
            return self._attributor.missing
        shown = [(block.passage, block.text) for block in self.blocks]
        return missing(self.question, shown, "the model wrote nothing that the passages show")
