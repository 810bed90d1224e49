"""The gateway of the manifests: nobody but itself is its pod, it has few rights, and its arguments work."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from tests.broker_process import clean_environment
from tests.deploy.test_kubernetes import manifests

from penstock.cli.generate.plan import BROKER_PORT, GATEWAY_PORT, USER_ID

NAME = "penstock-gateway"
NAMESPACE = "queues"
TOKEN = "a-token-that-nobody-guesses"
SECONDS_MAX = 60.0

DEPLOYMENT = manifests()["Deployment", NAME]
SERVICE = manifests()["Service", NAME]
POD = DEPLOYMENT["spec"]["template"]["spec"]
(CONTAINER,) = POD["containers"]


def labels_of(manifest: dict[str, Any]) -> dict[str, str]:
    labels = manifest["spec"]["template"]["metadata"]["labels"]
    assert isinstance(labels, dict)
    return labels


def test_selectors_find_its_pods_and_no_brokers() -> None:
    brokers = labels_of(manifests()["StatefulSet", "penstock"])
    spread = POD["topologySpreadConstraints"][0]["labelSelector"]
    for selector in (
        DEPLOYMENT["spec"]["selector"]["matchLabels"],
        SERVICE["spec"]["selector"],
        spread["matchLabels"],
    ):
        assert selector.items() <= labels_of(DEPLOYMENT).items()
        assert not selector.items() <= brokers.items()


def test_nothing_that_means_brokers_finds_its_pods() -> None:
    others = [each["spec"] for (kind, name), each in manifests().items() if name != NAME and "spec" in each]
    selectors = [spec["selector"] for spec in others if "selector" in spec]
    assert len(selectors) > 5
    for selector in selectors:
        wanted = selector.get("matchLabels", selector)
        assert not wanted.items() <= labels_of(DEPLOYMENT).items()
        assert not wanted.items() <= SERVICE["metadata"]["labels"].items()


def test_ports_and_probes_lead_to_where_it_listens() -> None:
    (port,) = CONTAINER["ports"]
    (opened,) = SERVICE["spec"]["ports"]
    assert f"--listen=0.0.0.0:{GATEWAY_PORT}" in CONTAINER["args"]
    assert port == {"name": "http", "containerPort": GATEWAY_PORT}
    assert opened == {"name": "http", "port": GATEWAY_PORT, "targetPort": "http"}
    for name in ("livenessProbe", "readinessProbe"):
        assert CONTAINER[name]["httpGet"] == {"path": "/health", "port": "http"}


def test_it_asks_the_service_of_the_brokers() -> None:
    (port,) = manifests()["Service", "penstock"]["spec"]["ports"]
    assert port["port"] == BROKER_PORT
    assert f"--bootstrap-server=penstock:{BROKER_PORT}" in CONTAINER["args"]


def test_its_pods_have_no_rights_that_they_do_not_need() -> None:
    assert POD["automountServiceAccountToken"] is False
    assert POD["securityContext"]["runAsNonRoot"] is True
    assert {POD["securityContext"][key] for key in ("runAsUser", "runAsGroup", "fsGroup")} == {USER_ID}
    assert CONTAINER["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert CONTAINER["resources"]["requests"]
    assert CONTAINER["resources"]["limits"]["memory"]


def test_token_comes_from_a_secret_that_is_not_among_the_files() -> None:
    mounts = {mount["name"]: mount["mountPath"] for mount in CONTAINER["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in POD["volumes"]}
    secret = volumes["token"]["secret"]

    assert set(mounts) == set(volumes)
    (item,) = secret["items"]
    assert f"--token-file={mounts['token']}/{item['path']}" in CONTAINER["args"]
    assert (secret["secretName"], item["key"], secret["defaultMode"]) == (NAME, "token", 0o440)
    assert "optional" not in secret
    assert "Secret" not in {kind for kind, _ in manifests()}


@contextmanager
def gateway_of_a_pod(directory: Path, bootstrap: str) -> Iterator[str]:
    """The container's command with this machine's addresses and paths; the URL at which it answers."""
    places = {
        "$(POD_NAMESPACE)": NAMESPACE,
        f"penstock:{BROKER_PORT}": bootstrap,
        f"0.0.0.0:{GATEWAY_PORT}": "127.0.0.1:0",
        "/etc/penstock": str(directory),
    }
    words: list[str] = CONTAINER["args"]
    for ours, theirs in places.items():
        words = [word.replace(ours, theirs) for word in words]
    process = subprocess.Popen(
        [sys.executable, "-m", "penstock", *words],
        cwd=directory,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().removeprefix("gateway on ").strip()
        process.send_signal(signal.SIGTERM)
        assert process.wait(POD["terminationGracePeriodSeconds"]) == 0
    finally:
        process.kill()
        process.communicate()


def asked(url: str, *, host: str, token: str = "") -> tuple[int, Any]:
    """Status and JSON of an answer to a request that was sent to a name."""
    headers = {"Host": host} | ({"Authorization": f"Bearer {token}"} if token else {})
    try:
        with urlopen(Request(url, headers=headers), timeout=SECONDS_MAX) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        with error:
            return error.code, json.load(error)


@pytest.mark.slow
def test_its_command_serves_whoever_knows_the_token_under_the_names_of_its_service(
    tmp_path: Path, bootstrap: str
) -> None:
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "token").chmod(POD["volumes"][0]["secret"]["defaultMode"])
    service = SERVICE["metadata"]["name"]
    domains = ("", f".{NAMESPACE}", f".{NAMESPACE}.svc", f".{NAMESPACE}.svc.cluster.local")
    with gateway_of_a_pod(tmp_path, bootstrap) as url:
        # Kubernetes asks under the address of the pod, and knows no token.
        health = CONTAINER["readinessProbe"]["httpGet"]["path"]
        assert asked(f"{url}{health}", host=f"10.1.2.3:{GATEWAY_PORT}") == (200, {"status": "up"})
        for domain in domains:
            host = f"{service}{domain}:{GATEWAY_PORT}"
            assert asked(f"{url}/subjects", host=host)[0] == 401
            assert asked(f"{url}/topics", host=host, token=TOKEN)[0] == 200
        assert asked(f"{url}/topics", host="elsewhere.example", token=TOKEN)[0] == 421
    assert (tmp_path / "token").read_text() == TOKEN
