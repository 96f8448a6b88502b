"""From results to the JSON of the interface contract. Pure; JSON escapes what a terminal would obey."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from itza_git.clock import day
from itza_git.paths import place, quote
from itza_git.render import commit_of, urls

if TYPE_CHECKING:  # records that are only read
    from pathlib import Path

    from itza_git.answering.answer import Cited
    from itza_git.answering.links import Pages
    from itza_git.indexing.fsck import Checked
    from itza_git.indexing.garbage import Collected
    from itza_git.records import Coverage
    from itza_git.results import (
        AskResult,
        BranchStatus,
        CommitHit,
        Hit,
        IndexReport,
        Past,
        Searched,
        SearchResult,
        Shown,
        ShownCommit,
        Similar,
        Status,
    )

SCHEMA = 1


def search_json(result: SearchResult, dirty: bool) -> dict[str, Any]:
    """The object that `search --json` prints. dirty: the working tree differs from the commit."""
    hits = [hit_json(hit) for hit in result.hits]
    return _head_json(result, dirty) | {"hits": hits} | (past_json(result.past) if result.past else {})


def similar_json(result: Similar, dirty: bool) -> dict[str, Any]:
    """The object that `similar --json` prints. same: the part of the text that a hit has in common with `of`."""
    hits = [hit_json(hit) | {"same": hit.passage.parts["same"], "copy": result.is_copy(hit)} for hit in result.hits]
    return {"schema": SCHEMA} | _tree_json(result, dirty) | {"of": hit_json(result.of), "hits": hits}


def ask_json(
    asked: AskResult, cited: Sequence[tuple[Cited, str]], dirty: bool, links: Pages | None = None
) -> dict[str, Any]:
    """The object that `ask --json` prints. cited: the answer's citations with their rendered form."""
    answer, result, leads = asked.answer, asked.result, urls(asked, links)
    return _head_json(result, dirty) | {
        "status": answer.status,
        "confidence": answer.confidence,
        "no_se_by": answer.no_se_by,
        "answer": answer.text,
        "missing": answer.missing,
        "model": answer.model,
        "citations": [
            _cited_json(one, citation, commit_of(one, result), bool(result.repositories)) | {"url": leads.get(one.n)}
            for one, citation in cited
        ],
        "rejected": [{"text": one.text, "reason": one.reason} for one in answer.rejected],
        "passages": [hit_json(hit) for hit in result.hits],
        "note": asked.note,
        **past_json(result.past, links),
    }


def _cited_json(one: Cited, citation: str, commit: str, is_named: bool) -> dict[str, Any]:
    if one.is_commit:
        nothing = dict.fromkeys(("path", "start_line", "end_line"))
        said = {"commit": commit, "blob": None, "citation": citation, "verified": True, "by": one.by}
        return {"n": one.n} | nothing | said | {"kind": "commit"}
    return (
        {"n": one.n}
        | (_named_path_json(one.path) if is_named else path_json(one.path))
        | {
            "start_line": one.first,
            "end_line": one.last,
            "commit": commit,
            "blob": one.blob.hex(),
            "citation": citation,
            "verified": True,
            "by": one.by,
        }
    )


def _head_json(result: SearchResult, dirty: bool) -> dict[str, Any]:
    several = {"repositories": list(map(searched_json, result.repositories))} if result.repositories else {}
    both = {"base": result.base, "changed": result.changed} if result.base else {}
    return {"schema": SCHEMA, "query": result.query} | _tree_json(result, dirty) | both | several


def _tree_json(result: SearchResult | Similar, dirty: bool) -> dict[str, Any]:
    """Which tree was asked, and how much of it is indexed."""
    return {
        "commit": result.commit or None,
        "rev": result.rev,
        "dirty": dirty,
        "recipe": result.recipe,
        "coverage": coverage_json(result.coverage),
    }


def coverage_json(coverage: Coverage) -> dict[str, Any]:
    """The coverage of a tree."""
    return {
        "indexed": coverage.indexed,
        "total": coverage.total,
        "skipped": [path_json(one.path) | {"reason": one.reason} for one in coverage.skipped],
    }


def hit_json(hit: Hit) -> dict[str, Any]:
    """One hit; the lines around it only where some were asked for."""
    passage = hit.passage
    path = _named_path_json(passage.path) if hit.repository else path_json(passage.path)
    found = path | {
        "start_line": passage.first,
        "end_line": passage.last,
        "commit": hit.commit,
        "blob": passage.blob.hex(),
        "citation": hit.citation,
        "language": passage.language,
        "symbol": passage.symbol,
        "kind": passage.kind,
        "score": passage.score,
        "text": hit.text,
    }
    around = {"before": list(hit.before), "after": list(hit.after)}
    return found | (around if hit.before or hit.after else {})


def searched_json(one: Searched) -> dict[str, Any]:
    """One of several repositories."""
    return {
        "name": one.name,
        "path": place(str(one.path)),
        "commit": one.commit or None,
        "coverage": coverage_json(one.coverage),
        "error": one.error,
    }


def _named_path_json(path: bytes) -> dict[str, Any]:
    """A path that begins with the name of its repository."""
    name, _, rest = path.partition(b"//")
    return {"repo": os.fsdecode(name)} | path_json(rest)


def path_json(path: bytes) -> dict[str, Any]:
    """A path; one that is not UTF-8 in its quoted form, with its bytes beside it."""
    try:
        return {"path": path.decode()}
    except UnicodeDecodeError:
        return {"path": quote(path), "path_bytes": base64.b64encode(path).decode()}


def report_json(done: IndexReport, messages: tuple[int, int] = (0, 0)) -> dict[str, Any]:
    """The object that `index --json` prints. messages: how many commit messages are indexed, of how many."""
    return {
        "schema": SCHEMA,
        "rev": done.rev,
        "commit": done.commit,
        "coverage": coverage_json(done.coverage),
        "new": done.new,
        "reused": done.reused,
        "chunks": done.chunks,
        "not_embedded": done.not_embedded,
        "lossy": [path_json(path) for path in done.lossy],
        "messages": {"indexed": messages[0], "total": messages[1]},
    }


def collected_json(dropped: Collected) -> dict[str, Any]:
    """The object that `gc --json` prints."""
    return {"schema": SCHEMA} | {
        "blobs": dropped.blobs,
        "views": dropped.views,
        "spaces": dropped.spaces,
        "messages": dropped.messages,
        "freed": dropped.freed,
    }


def checked_json(checked: Checked, root: Path) -> dict[str, Any]:
    """The object that `fsck --json` prints; paths are relative to root, the common git directory."""
    return {
        "schema": SCHEMA,
        "whole": not checked.faults,
        "repaired": checked.repaired and bool(checked.faults),
        "spaces": checked.spaces,
        "packs": checked.packs,
        "views": checked.views,
        "blobs": checked.blobs,
        "chunks": checked.chunks,
        "faults": [{"path": fault.path.relative_to(root).as_posix(), "what": fault.what} for fault in checked.faults],
        "set_aside": [path.relative_to(root).as_posix() for path in checked.aside],
    }


def status_json(state: Status) -> dict[str, Any]:
    """The object that `status --json` prints."""
    return {
        "schema": SCHEMA,
        "head": _branch_json(state.head) if state.head else None,
        "fresh": state.fresh,
        "branches": [_branch_json(branch) for branch in state.branches],
        "embedder": state.embedder,
        "recipe": state.recipe,
        "model": state.answer_model,
        "store": {"path": str(state.store), "bytes": state.size, "packs": state.packs},
        "damaged": list(state.damaged),
        "troubles": list(state.troubles),
    }


def _branch_json(branch: BranchStatus) -> dict[str, Any]:
    return {
        "name": branch.name,
        "commit": branch.commit,
        "current": branch.is_head,
        "coverage": coverage_json(branch.coverage),
        "indexed_commit": branch.indexed_commit,
        "indexed_at": branch.indexed_at,
    }


def shown_json(lines: Shown) -> dict[str, Any]:
    """The object that `show --json` prints."""
    return path_json(lines.citation.path) | {
        "schema": SCHEMA,
        "start_line": lines.citation.first,
        "end_line": lines.citation.last,
        "commit": lines.commit,
        "lines": list(lines.lines),
    }


def past_json(past: Past | None, links: Pages | None = None) -> dict[str, Any]:
    """The keys `commits` and `history` of `ask --json`, and of `search --json -v` about reasons."""
    found: Iterable[CommitHit] = past.commits if past else ()
    return {
        "commits": [_commit_json(one) | {"url": links.commit_url(one.commit) if links else None} for one in found],
        "history": {"indexed": past.searched, "total": past.total} if past else None,
    }


def _commit_json(hit: CommitHit) -> dict[str, Any]:
    return {
        "commit": hit.commit,
        "citation": hit.citation,
        "subject": hit.subject,
        "date": day(hit.time),
        "time": hit.time,
        "by": hit.by,
        "lines": list(hit.lines),
        "score": hit.score,
        "text": hit.text,
    }


def shown_commit_json(shown: ShownCommit) -> dict[str, Any]:
    """The object that `show --json` prints for a commit."""
    return {
        "schema": SCHEMA,
        "citation": shown.citation,
        "commit": shown.commit,
        "subject": shown.subject,
        "date": day(shown.time),
        "time": shown.time,
        "text": shown.text,
        "changed": shown.changed,
        "files": [
            {**path_json(one.path), "status": one.status, "added": one.added, "removed": one.removed}
            for one in shown.files
        ],
    }
