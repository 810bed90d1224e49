"""Pipelines: what runs, how fast, and how far behind."""

import time
from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter

from penstock.gateway.console.console import Console
from penstock.gateway.console.pipelines.board import PipelineBoard

_WORST_FIRST = ("failed", "silent", "running", "ended")
_OF_PIPELINE = ("host", "pid", "started_ms", "file")


def router(console: Console) -> APIRouter:
    """The routes of pipelines."""
    routes = APIRouter(prefix="/pipelines")
    board = PipelineBoard()

    @routes.get("")
    def pipelines() -> dict[str, Any]:
        """Every pipeline that the cluster knows of, with its flows and how they have gone."""
        with console.kafka.cluster() as cluster:
            is_complete = board.read_on(cluster)
        now_ms = time.time_ns() // 1_000_000
        return {"pipelines": by_pipeline(board.flows(now_ms=now_ms)), "is_complete": is_complete}

    return routes


def by_pipeline(flows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Flows under the names of their pipelines; a pipeline is in the worst of their states."""
    found: dict[str, dict[str, Any]] = {}
    for flow in flows:
        name = flow["pipeline"]
        pipeline = found.setdefault(name, {"pipeline": name, "flows": [], "state": "ended"})
        pipeline |= {each: flow.get(each) for each in _OF_PIPELINE}
        pipeline["state"] = _worse(pipeline["state"], flow["state"])
        pipeline["flows"].append({key: value for key, value in flow.items() if key not in _OF_PIPELINE})
    return list(found.values())


def _worse(one: str, other: str) -> str:
    return min(one, other, key=lambda state: _WORST_FIRST.index(state) if state in _WORST_FIRST else 0)
