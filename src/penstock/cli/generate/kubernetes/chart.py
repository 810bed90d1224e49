"""A Helm chart: the manifests, with expressions where the manifests have values."""

from penstock.cli.generate.filling import filled, template
from penstock.cli.generate.kubernetes.words import (
    GATEWAY_RESOURCES,
    RESOURCES,
    STORAGE_SIZE,
    indented,
    join_setting,
)
from penstock.cli.generate.plan import FIXED, Plan

_NAME = "{{ $.Release.Name }}"
_EACH_POD = "{{- range $ordinal := until (int $.Values.replicas) }}\n"
_END = "{{- end }}\n"


def helm_files(plan: Plan) -> dict[str, str]:
    """The chart in a folder with its name, as Helm wants it."""
    words = _words()
    values = {
        "nodes": str(plan.nodes),
        "replication_factor": str(plan.replication_factor),
        "min_insync_replicas": str(plan.min_insync_replicas),
        "storage_size": STORAGE_SIZE,
        "values_resources": indented(RESOURCES, 2),
        "values_gateway_resources": indented(GATEWAY_RESOURCES, 4),
    }
    files = {
        "Chart.yaml": filled("helm/Chart.yaml"),
        "values.yaml": filled("helm/values.yaml", values),
        "values.schema.json": template("helm/values.schema.json"),
        ".helmignore": template("helm/helmignore"),
        "templates/NOTES.txt": filled("helm/NOTES.txt"),
        **{
            f"templates/{file}": filled(f"kubernetes/{file}", words)
            for file in ("configmap.yaml", "services.yaml", "statefulset.yaml")
        },
        "templates/poddisruptionbudget.yaml": _if_enabled("podDisruptionBudget", words),
        "templates/servicemonitor.yaml": _if_enabled("serviceMonitor", words),
        "templates/gateway.yaml": _if_enabled("gateway", words | _gateway_words()),
    }
    return {f"helm/penstock/{path}": text for path, text in files.items()}


def _if_enabled(value: str, words: dict[str, str]) -> str:
    manifest = filled(f"kubernetes/{value.lower()}.yaml", words)
    return f"{{{{- if $.Values.{value}.enabled }}}}\n{manifest}{_END}"


def _words() -> dict[str, str]:
    once = {
        "name": _NAME,
        "ordinal": "{{ $ordinal }}",
        "nodes": "{{ $.Values.replicas }}",
        "image": '"{{ $.Values.image.repository }}:{{ $.Values.image.tag | default $.Chart.AppVersion }}"',
        "image_pull_policy": "{{ $.Values.image.pullPolicy }}",
        "domain": '{{ $.Values.advertisedDomain | default "$(POD_NAMESPACE).svc" }}',
        "replication_factor": "{{ $.Values.replicationFactor }}",
        "min_insync_replicas": "{{ $.Values.minInsyncReplicas }}",
        "resources": "{{- toYaml $.Values.resources | nindent 12 }}",
        "storage_size": "{{ $.Values.storage.size }}",
        "scrape_interval": "{{ $.Values.serviceMonitor.interval }}",
        "pod_service_type": "{{ $.Values.podService.type }}",
        "monitor_labels": _with("serviceMonitor.labels", 4),
        "pod_annotations": _with("podAnnotations", 8, under="annotations"),
        "pod_service_annotations": _with("podService.annotations", 4, under="annotations"),
        "scheduling": _scheduling(""),
        "storage_class": _STORAGE_CLASS,
        "extra_settings": _EXTRA_SETTINGS,
        "join": _JOIN,
    }
    return once | {
        "pod_settings": f"{_EACH_POD}{filled('kubernetes/pod_settings.yaml', once)}{_END}",
        "pod_services": f"{_EACH_POD}{filled('kubernetes/pod_service.yaml', once)}{_END}",
    }


def _gateway_words() -> dict[str, str]:
    secret = '{{ $.Values.gateway.tokenSecret | default (printf "%s-gateway" $.Release.Name) }}'
    return {
        "gateway_replicas": "{{ $.Values.gateway.replicas }}",
        "gateway_secret": secret,
        "gateway_resources": "{{- toYaml $.Values.gateway.resources | nindent 12 }}",
        "gateway_service_type": "{{ $.Values.gateway.service.type }}",
        "gateway_service_annotations": _with("gateway.service.annotations", 4, under="annotations"),
        "gateway_pod_annotations": _with("gateway.podAnnotations", 8, under="annotations"),
        "gateway_scheduling": _scheduling("gateway."),
        "gateway_allowed_hosts": _ALLOWED_HOSTS,
    }


_ALLOWED_HOSTS = """\
{{- range $host := $.Values.gateway.allowedHosts }}
            - --allowed-host={{ $host }}
{{- end }}
"""

_EXTRA_SETTINGS = """\
{{- range $key, $value := $.Values.settings }}
    {{ $key }}={{ $value }}
{{- end }}
"""

_STORAGE_CLASS = """\
{{- if $.Values.storage.className }}
        storageClassName: {{ $.Values.storage.className }}
{{- end }}
"""

_JOIN = f"""\
{{{{- if or $.Values.founded (gt $ordinal 0) }}}}
    {join_setting(_NAME, FIXED["broker_port"])}
{_END}"""


def _scheduling(prefix: str) -> str:
    """On which nodes pods run."""
    names = ("nodeSelector", "tolerations", "affinity")
    return "".join(_with(f"{prefix}{name}", 8, under=name) for name in names)


def _with(value: str, spaces: int, *, under: str = "") -> str:
    """A part of the values that is left out where it is empty, beneath a key of its own or beside others."""
    key = f"{' ' * (spaces - 2)}{under}:\n" if under else ""
    return f"{{{{- with $.Values.{value} }}}}\n{key}{{{{- toYaml . | nindent {spaces} }}}}\n{_END}"
