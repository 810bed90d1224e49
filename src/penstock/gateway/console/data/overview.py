"""``/overview``: the cluster at a glance, with findings that lead to the page that tells more."""

from typing import Any

from fastapi import APIRouter

from penstock.gateway.console.console import Console
from penstock.gateway.console.data.broker_shape import broker_as_json
from penstock.gateway.console.sampling.sample import is_internal
from penstock.gateway.console.sampling.sampler import Sampler
from penstock.wire_client.cluster_description import BrokerState, ClusterDescription, describe_cluster

BUSIEST_MAX = 8
LAGS_MAX = 8

HEALTHY, DEGRADED, DOWN = "healthy", "degraded", "down"


def router(console: Console) -> APIRouter:
    """The route of the overview."""
    routes = APIRouter()

    @routes.get("/overview")
    def overview() -> dict[str, Any]:
        """Health, counts, throughput and disks of the whole cluster."""
        with console.kafka.cluster() as cluster:
            described = describe_cluster(cluster)
        return {
            "cluster_id": described.cluster_id,
            "controller": described.controller,
            "health": health(described),
            "counts": counts(described, console.sampler),
            "brokers": [broker_as_json(broker) for broker in described.brokers],
            **_over_time(console.sampler),
            "notes": [*described.notes, *_sampler_notes(console.sampler)],
        }

    return routes


def health(described: ClusterDescription) -> dict[str, Any]:
    """One word for the cluster, and what is wrong with it."""
    offline = [each for each in described.partitions if each.leader < 0]
    behind = [each for each in described.partitions if each.is_under_replicated and each.leader >= 0]
    away = [each for each in described.brokers if each.state in (BrokerState.FENCED, BrokerState.DOWN)]
    findings = [
        _finding(f"Broker {each.broker} is {each.state}", page=f"brokers/{each.broker}") for each in away
    ]
    if offline:
        findings.append(_finding(_partitions(len(offline), "no leader"), page="topics?sort=-offline"))
    if behind:
        text = _partitions(len(behind), "replicas that are behind")
        findings.append(_finding(text, page="topics?sort=-under_replicated"))
    if described.controller is None:
        findings.append(_finding("Nobody decides: there is no controller", page="brokers"))
    is_down = bool(offline) or described.controller is None
    return {"state": DOWN if is_down else DEGRADED if findings else HEALTHY, "findings": findings}


def counts(described: ClusterDescription, sampler: Sampler) -> dict[str, Any]:
    """How many of everything."""
    newest = sampler.newest
    up = [each for each in described.brokers if each.state in (BrokerState.UP, BrokerState.DRAINING)]
    return {
        "brokers_up": len(up),
        "topics": len({each.where.topic for each in described.partitions}),
        "partitions": len(described.partitions),
        "under_replicated": sum(each.is_under_replicated for each in described.partitions),
        "offline": sum(each.leader < 0 for each in described.partitions),
        "groups": None if newest is None else len(newest.committed),
    }


def _over_time(sampler: Sampler) -> dict[str, Any]:
    newest = sampler.newest
    messages, sizes = sampler.messages(), sampler.sizes()
    own = {topic: rate for topic, rate in sampler.topic_rates().items() if not is_internal(topic)}
    rates = sorted(own.items(), key=lambda each: (-each[1], each[0]))
    lags = sorted({} if newest is None else newest.lags().items(), key=lambda each: (-each[1], each[0]))
    return {
        "messages_per_second": messages,
        "stored_bytes": sizes,
        "rate_now": messages[-1][1] if messages else None,
        "stored_bytes_now": sizes[-1][1] if sizes else None,
        "busiest": [{"topic": topic, "rate": rate} for topic, rate in rates[:BUSIEST_MAX] if rate > 0],
        "lags": [{"group": group, "lag": lag} for group, lag in lags[:LAGS_MAX]],
    }


def _sampler_notes(sampler: Sampler) -> list[str]:
    return [] if sampler.problem is None else [f"Rates are not measured at present: {sampler.problem}"]


def _partitions(count: int, with_what: str) -> str:
    return f"{count} partition{' has' if count == 1 else 's have'} {with_what}"


def _finding(text: str, *, page: str) -> dict[str, Any]:
    return {"text": text, "page": page}
