"""The conformance scenarios that lie beside the project, case by case, where they are to be had.

Cases that need what is not there yet wait for it by name below.
"""

import ast
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cluster_size import REPLICATION_FACTOR
from tests.conftest import MakeServer

pytestmark = pytest.mark.interop

FOLDER = Path(__file__).parents[3] / "shared" / "conformance"
SCENARIOS = ("scenario_confluent.py", "scenario_kafka_python.py")
CASE_SECONDS = 60
NO_FOLDER = "there is no conformance folder beside the project"

LEFT_OUT = {
    "scenario_confluent.py": {"acls": "needs an authorizer"},
    "scenario_kafka_python.py": {"acls_admin": "needs an authorizer"},
}
IMPATIENT: dict[str, dict[str, object]] = {
    "retention_by_time": {"log.retention.check.interval.ms": 300, "log.segment.delete.delay.ms": 100},
    "compaction_keeps_last_value": {"log.cleaner.backoff.ms": 200, "log.segment.delete.delay.ms": 100},
}
"""Cases that would wait for the broker's housekeeping have a broker of their own, which looks more often."""

NEEDED_MODULES = {("scenario_kafka_python.py", "compression_matrix"): ("snappy", "lz4", "zstandard")}


def case_names(scenario: str) -> list[str]:
    """The functions marked as cases, in their order."""
    tree = ast.parse((FOLDER / scenario).read_text())
    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any("case" in ast.unparse(one) for one in node.decorator_list)
    ]


def all_cases() -> list[object]:
    if not FOLDER.is_dir():
        return [
            pytest.param("", "", marks=pytest.mark.skip(reason=f"there is no {FOLDER.name} folder beside"))
        ]
    found: list[object] = []
    for scenario in SCENARIOS:
        for name in case_names(scenario):
            if name in IMPATIENT:
                continue
            reason = LEFT_OUT[scenario].get(name)
            marks = [pytest.mark.skip(reason=reason)] if reason else []
            found.append(pytest.param(scenario, name, marks=marks, id=f"{scenario[9:-3]}-{name}"))
    return found


@pytest.mark.parametrize(("scenario", "name"), all_cases())
def test_conformance_case_passes(bootstrap: str, tmp_path: Path, scenario: str, name: str) -> None:
    for module in NEEDED_MODULES.get((scenario, name), ()):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"the client needs the module {module} for this")
    verdict, why = run_case(bootstrap, tmp_path, scenario=scenario, name=name)
    assert verdict == "PASS", why


@pytest.mark.slow
@pytest.mark.skipif(not FOLDER.is_dir(), reason=NO_FOLDER)
@pytest.mark.parametrize("name", IMPATIENT)
def test_conformance_case_passes_on_a_broker_that_looks_often(
    make_server: MakeServer, tmp_path: Path, name: str
) -> None:
    server = make_server(IMPATIENT[name])
    verdict, why = run_case(server.bootstrap, tmp_path, scenario=SCENARIOS[0], name=name)
    assert verdict == "PASS", why


def run_case(bootstrap: str, directory: Path, *, scenario: str, name: str) -> tuple[str, str]:
    """Verdict and reason of one case, run in a process of its own."""
    results = directory / "results.json"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(FOLDER / scenario)],
        env={
            **os.environ,
            "BOOTSTRAP": bootstrap,
            "ONLY": name,
            "JSON": str(results),
            "RF": str(REPLICATION_FACTOR),
            "CASE_TIMEOUT": str(CASE_SECONDS),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        timeout=CASE_SECONDS + 50,
        check=False,
    )
    assert results.exists(), done.stdout + done.stderr
    verdicts = {one["case"]: (one["verdict"], one["why"]) for one in json.loads(results.read_text())}
    return verdicts[name]


@pytest.mark.skipif(not FOLDER.is_dir(), reason=NO_FOLDER)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_cases_left_out_exist(scenario: str) -> None:
    assert set(LEFT_OUT[scenario]) <= set(case_names(scenario))


@pytest.mark.skipif(not FOLDER.is_dir(), reason=NO_FOLDER)
def test_impatient_cases_exist() -> None:
    assert set(IMPATIENT) <= set(case_names(SCENARIOS[0]))
