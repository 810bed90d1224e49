"""The Helm chart is the manifests, with values to choose."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from tests.deploy.chart_renderer import render
from tests.deploy.deploy_folder import DEPLOY, documents
from tests.deploy.test_kubernetes import manifests

CHART = DEPLOY / "helm" / "penstock"
HELM = shutil.which("helm")
KUBERNETES = "1.32.0"
SCHEMA = json.loads((CHART / "values.schema.json").read_text())
(VALUES,) = documents(CHART / "values.yaml")

Objects = dict[tuple[str, str], dict[str, Any]]

CHOSEN: dict[str, Any] = {
    "replicas": 2,
    "founded": True,
    "replicationFactor": 2,
    "minInsyncReplicas": 1,
    "settings": {"log.retention.hours": "24", "log.segment.bytes": "1073741824"},
    "image": {"repository": "registry.example.com/penstock", "tag": "9.9.9", "pullPolicy": "Always"},
    "advertisedDomain": "kafka.example.com",
    "podService": {"type": "LoadBalancer", "annotations": {"a.example.com/name": "kafka"}},
    "storage": {"size": "1Ti", "className": "fast"},
    "podAnnotations": {"note": "hello"},
    "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"key": "dedicated", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "podDisruptionBudget": {"enabled": False},
    "serviceMonitor": {"enabled": True, "interval": "5s", "labels": {"release": "prometheus"}},
    "gateway": {
        "enabled": True,
        "replicas": 3,
        "tokenSecret": "kept-elsewhere",
        "allowedHosts": ["queue.example.com", "*"],
        "service": {"type": "NodePort", "annotations": {"a.example.com/name": "console"}},
        "resources": {"limits": {"memory": "2Gi"}},
        "podAnnotations": {"note": "web"},
        "nodeSelector": {"zone": "web"},
        "tolerations": [{"key": "web", "operator": "Exists"}],
        "affinity": {"podAffinity": {}},
    },
}


def rendered(values: dict[str, Any], *, name: str = "penstock") -> Objects:
    """All objects of the chart."""
    (chart,) = documents(CHART / "Chart.yaml")
    names = {
        "Values": {**VALUES, **values},
        "Release": {"Name": name},
        "Chart": {"AppVersion": chart["appVersion"]},
    }
    texts = [render(path.read_text(), names) for path in sorted((CHART / "templates").glob("*.yaml"))]
    return objects("\n---\n".join(texts))


def objects(text: str) -> Objects:
    return {(each["kind"], each["metadata"]["name"]): each for each in yaml.safe_load_all(text) if each}


def without_comments(found: Objects) -> Objects:
    """Settings without lines that brokers do not read."""
    for (kind, _), each in found.items():
        if kind == "ConfigMap":
            each["data"] = {
                name: [line for line in text.splitlines() if not line.startswith("#")]
                for name, text in each["data"].items()
            }
    return found


def test_chart_with_its_own_values_is_the_manifests() -> None:
    whole = {name: {**VALUES[name], "enabled": True} for name in ("serviceMonitor", "gateway")}
    assert without_comments(rendered(whole)) == without_comments(manifests())


def test_what_is_chosen_arrives() -> None:
    found = rendered(CHOSEN, name="queue")
    stateful_set = found["StatefulSet", "queue"]["spec"]
    pod = stateful_set["template"]["spec"]

    assert ("PodDisruptionBudget", "queue") not in found
    assert ("Service", "queue-1") in found
    assert ("Service", "queue-2") not in found
    assert stateful_set["replicas"] == 2
    assert pod["containers"][0]["image"] == "registry.example.com/penstock:9.9.9"
    assert pod["containers"][0]["args"][-1].endswith("PLAINTEXT://$(POD_NAME).kafka.example.com:9092")
    assert (pod["nodeSelector"], pod["tolerations"]) == (CHOSEN["nodeSelector"], CHOSEN["tolerations"])
    assert stateful_set["template"]["metadata"]["annotations"] == {"note": "hello"}
    claim = stateful_set["volumeClaimTemplates"][0]["spec"]
    assert (claim["storageClassName"], claim["resources"]["requests"]["storage"]) == ("fast", "1Ti")
    service = found["Service", "queue-0"]
    assert service["spec"]["type"] == "LoadBalancer"
    assert service["metadata"]["annotations"] == {"a.example.com/name": "kafka"}
    assert found["ServiceMonitor", "queue"]["metadata"]["labels"]["release"] == "prometheus"


def test_what_is_chosen_of_the_gateway_arrives() -> None:
    found = rendered(CHOSEN, name="queue")
    chosen = CHOSEN["gateway"]
    deployment = found["Deployment", "queue-gateway"]["spec"]
    pod = deployment["template"]["spec"]
    (container,) = pod["containers"]

    assert deployment["replicas"] == 3
    assert deployment["template"]["metadata"]["annotations"] == chosen["podAnnotations"]
    assert {name: pod[name] for name in ("nodeSelector", "tolerations", "affinity")}.items() <= chosen.items()
    assert pod["volumes"][0]["secret"]["secretName"] == "kept-elsewhere"
    assert container["image"] == "registry.example.com/penstock:9.9.9"
    assert container["resources"] == chosen["resources"]
    assert "--bootstrap-server=queue:9092" in container["args"]
    assert container["args"][-2:] == ["--allowed-host=queue.example.com", "--allowed-host=*"]
    service = found["Service", "queue-gateway"]
    assert service["spec"]["type"] == "NodePort"
    assert service["metadata"]["annotations"] == chosen["service"]["annotations"]


def test_gateway_is_left_out_until_somebody_wants_it() -> None:
    assert not [name for _, name in rendered({}) if "gateway" in name]


def test_first_pod_of_a_founded_cluster_joins_like_the_others() -> None:
    for is_founded in (False, True):
        data = rendered({"founded": is_founded})["ConfigMap", "penstock"]["data"]
        joins = [
            "controller.quorum.bootstrap.servers=penstock-headless:9092" in text for text in data.values()
        ]
        assert joins == [is_founded, True, True]


def test_settings_of_all_brokers_arrive_as_they_are() -> None:
    for text in rendered(CHOSEN, name="queue")["ConfigMap", "queue"]["data"].values():
        assert "\nlog.segment.bytes=1073741824\n" in text


def test_values_are_of_their_schema() -> None:
    jsonschema.validate(VALUES, SCHEMA)
    jsonschema.validate({**VALUES, **CHOSEN}, SCHEMA)


@pytest.mark.parametrize(
    "wrong",
    [
        {"replicas": 0},
        {"replica": 3},
        {"settings": {"log.segment.bytes": 1073741824}},
        {"storage": {"size": "much"}},
        {"podService": {"type": "ExternalName"}},
        {"advertisedDomain": "kafka example"},
        {"gateway": {**VALUES["gateway"], "token": "a token in a file that many people read"}},
        {"gateway": {**VALUES["gateway"], "replicas": -1}},
        {"gateway": {**VALUES["gateway"], "allowedHosts": ["a b"]}},
    ],
)
def test_wrong_values_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**VALUES, **wrong}, SCHEMA)


def test_every_value_is_used() -> None:
    texts = "".join(path.read_text() for path in (CHART / "templates").iterdir())
    assert not [name for name in VALUES if f".Values.{name}" not in texts]


def test_every_value_is_in_the_schema_and_the_other_way_round() -> None:
    assert set(VALUES) == set(SCHEMA["properties"]) - {"global"}


def test_renderer_refuses_what_it_does_not_know() -> None:
    with pytest.raises(KeyError):
        render("{{ include $.Values }}", {"Values": {}})
    with pytest.raises(ValueError, match="end is missing"):
        render("{{- if 1 }}x", {})


@pytest.mark.skipif(HELM is None, reason="needs helm")
@pytest.mark.parametrize("values", [{}, CHOSEN], ids=["as it is", "with other values"])
def test_helm_renders_the_same(values: dict[str, Any], tmp_path: Path) -> None:
    assert HELM is not None
    (tmp_path / "values.yaml").write_text(yaml.safe_dump(values))
    words = ["template", "penstock", str(CHART), "--values", str(tmp_path / "values.yaml")]
    done = subprocess.run(
        [HELM, *words, "--kube-version", KUBERNETES], capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 0, done.stderr
    assert objects(done.stdout) == rendered(values)
