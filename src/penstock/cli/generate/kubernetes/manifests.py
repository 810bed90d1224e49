"""Plain manifests, to be applied as they are."""

from penstock.cli.generate.filling import filled
from penstock.cli.generate.kubernetes.words import (
    GATEWAY_RESOURCES,
    RESOURCES,
    SCRAPE_INTERVAL,
    STORAGE_SIZE,
    indented,
    join_setting,
)
from penstock.cli.generate.plan import FIXED, Plan

NAME = "penstock"
FILES = (
    "configmap.yaml",
    "services.yaml",
    "statefulset.yaml",
    "poddisruptionbudget.yaml",
    "servicemonitor.yaml",
    "gateway.yaml",
    "kustomization.yaml",
)


def kubernetes_files(plan: Plan) -> dict[str, str]:
    """All manifests, for so many pods."""
    words = _words(plan)
    return {f"kubernetes/{file}": filled(f"kubernetes/{file}", words) for file in FILES}


def _words(plan: Plan) -> dict[str, str]:
    once = {
        "name": NAME,
        "nodes": str(plan.nodes),
        "image": f"penstock:{FIXED['version']}",
        "image_pull_policy": "IfNotPresent",
        "domain": "$(POD_NAMESPACE).svc",
        "replication_factor": str(plan.replication_factor),
        "min_insync_replicas": str(plan.min_insync_replicas),
        "resources": indented(RESOURCES, 12),
        "storage_size": STORAGE_SIZE,
        "scrape_interval": SCRAPE_INTERVAL,
        "pod_service_type": "ClusterIP",
        "gateway_replicas": "1",
        "gateway_secret": f"{NAME}-gateway",
        "gateway_resources": indented(GATEWAY_RESOURCES, 12),
        "gateway_service_type": "ClusterIP",
        **dict.fromkeys(_ONLY_IN_THE_CHART, ""),
    }
    return once | {
        "pod_settings": "".join(_pod_settings(once, ordinal) for ordinal in range(plan.nodes)),
        "pod_services": "".join(
            filled("kubernetes/pod_service.yaml", once | {"ordinal": str(ordinal)})
            for ordinal in range(plan.nodes)
        ),
    }


_ONLY_IN_THE_CHART = (
    "extra_settings",
    "gateway_allowed_hosts",
    "gateway_pod_annotations",
    "gateway_scheduling",
    "gateway_service_annotations",
    "monitor_labels",
    "pod_annotations",
    "pod_service_annotations",
    "scheduling",
    "storage_class",
)


def _pod_settings(once: dict[str, str], ordinal: int) -> str:
    join = f"    {join_setting(NAME, FIXED['broker_port'])}"
    if ordinal == 0:
        join = (
            "    # Once the cluster has come up take the # away, so that this broker, should it ever lose\n"
            "    # its disk, joins the others instead of founding a second cluster.\n"
            f"    #{join.strip()}"
        )
    words = once | {"ordinal": str(ordinal), "join": join}
    return filled("kubernetes/pod_settings.yaml", words)
