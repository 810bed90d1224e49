"""The plugin as its users run it: another pytest, in another directory, with nothing but fixtures."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from textwrap import dedent

import pytest

from penstock.testing import Broker

ROOT = Path(__file__).parents[2]
IS_INSTALLED = any(each.name == "penstock" for each in entry_points(group="pytest11"))

RunPytest = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run_pytest(tmp_path: Path) -> RunPytest:
    def run(text: str, *words: str, ini: str = "") -> "subprocess.CompletedProcess[str]":
        (tmp_path / "test_theirs.py").write_text(dedent(text))
        (tmp_path / "pytest.ini").write_text(f"[pytest]\nfilterwarnings = error\n{dedent(ini)}")
        plugin = () if IS_INSTALLED else ("-p", "penstock.testing.plugin")
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        )

    return run


def passed(done: "subprocess.CompletedProcess[str]", summary: str) -> None:
    assert summary in done.stdout, done.stdout + done.stderr


PRODUCE = """
    from confluent_kafka import Producer

    def produce(broker, topic):
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
        errors = []
        producer.produce(topic, b"x", on_delivery=lambda error, _: errors.append(error))
        assert producer.flush(15) == 0
        return errors[0]
"""


def test_tests_share_a_broker_and_no_fault(run_pytest: RunPytest) -> None:
    done = run_pytest(
        PRODUCE
        + """
    ports = set()

    def test_one(penstock_broker, penstock_topic):
        ports.add(penstock_broker.port)
        penstock_broker.faults.fail("Produce", error="POLICY_VIOLATION")
        assert "POLICY_VIOLATION" in str(produce(penstock_broker, penstock_topic))

    def test_other(penstock_broker, penstock_topic):
        ports.add(penstock_broker.port)
        assert penstock_broker.requests.count() == 0
        assert produce(penstock_broker, penstock_topic) is None
        assert len(ports) == 1
    """
    )
    passed(done, "2 passed")


def test_topic_is_made_as_marked_and_deleted(run_pytest: RunPytest) -> None:
    done = run_pytest(
        """
    import pytest

    names = []

    @pytest.mark.penstock_topic(partitions=3, retention_ms=5000)
    def test_marked(penstock_broker, penstock_topic):
        image = penstock_broker.thread_home.look(lambda broker: broker.image)
        assert len(image.topics[penstock_topic].partitions) == 3
        assert image.topic_configs(penstock_topic) == {"retention.ms": "5000"}
        assert penstock_topic.startswith("test_marked")
        names.append(penstock_topic)

    @pytest.mark.penstock_topic(2)
    def test_marked_by_number(penstock_broker, penstock_topic):
        image = penstock_broker.thread_home.look(lambda broker: broker.image)
        assert len(image.topics[penstock_topic].partitions) == 2

    def test_gone(penstock_broker):
        assert names[0] not in penstock_broker.thread_home.look(lambda broker: broker.image.topics)
    """,
        "--strict-markers",
    )
    passed(done, "3 passed")


def test_broker_is_as_new_after_death_pause_and_time(run_pytest: RunPytest) -> None:
    done = run_pytest(
        PRODUCE
        + """
    import pytest

    @pytest.mark.parametrize("harm", ["kill", "pause", "stop", "clock"])
    def test_harm(penstock_broker, harm):
        if harm == "clock":
            penstock_broker.clock.advance(days=1)
        else:
            getattr(penstock_broker, harm)()

    def test_after(penstock_broker, penstock_topic):
        assert penstock_broker.clock.offset.total_seconds() == 0
        assert produce(penstock_broker, penstock_topic) is None
    """,
    )
    passed(done, "5 passed")


def test_settings_are_as_before_after_a_test_that_changed_them(run_pytest: RunPytest) -> None:
    done = run_pytest(
        """
    import pytest

    def partitions(broker):
        return broker.thread_home.look(lambda inside: inside.config.integer("num.partitions"))

    def starts(broker):
        return broker.log.count('"event": "started"')

    @pytest.fixture(scope="session")
    def own_settings(penstock_session_broker):
        penstock_session_broker.settings["num.partitions"] = 5
        penstock_session_broker.restart()

    def test_changed_and_restarted(own_settings, penstock_broker):
        penstock_broker.settings["num.partitions"] = 7
        penstock_broker.restart()
        assert partitions(penstock_broker) == 7

    def test_changed_and_paused(penstock_broker):
        assert partitions(penstock_broker) == 5
        del penstock_broker.settings["num.partitions"]
        penstock_broker.restart()
        penstock_broker.pause()

    lives = []

    def test_changed_only(penstock_broker):
        assert partitions(penstock_broker) == 5
        lives.append(starts(penstock_broker))
        penstock_broker.settings["num.partitions"] = 8

    def test_after(penstock_broker):
        assert penstock_broker.settings == {"num.partitions": 5}
        assert lives == [starts(penstock_broker)]
    """
    )
    passed(done, "4 passed")


def test_settings_of_a_cluster_are_as_before_after_a_test_that_changed_them(run_pytest: RunPytest) -> None:
    done = run_pytest(
        """
    def partitions(cluster):
        return [
            broker.thread_home.look(lambda inside: inside.config.integer("num.partitions"))
            for broker in cluster.brokers
        ]

    def test_changed(penstock_cluster):
        penstock_cluster.broker(1).settings["num.partitions"] = 7
        penstock_cluster.restart(1)
        assert partitions(penstock_cluster) == [7, 1, 1]
        penstock_cluster.pause(2)
        penstock_cluster.pause(3)

    def test_after(penstock_cluster):
        assert partitions(penstock_cluster) == [1, 1, 1]
        assert penstock_cluster.create_topic()
    """
    )
    passed(done, "2 passed")


def test_cluster_is_whole_again_after_a_test_that_broke_it(run_pytest: RunPytest) -> None:
    done = run_pytest(
        """
    def test_break(penstock_cluster):
        penstock_cluster.kill(1)
        penstock_cluster.pause(2)

    def test_cut(penstock_cluster):
        assert len(penstock_cluster.running()) == 3
        penstock_cluster.partition([1], [2, 3])

    def test_whole(penstock_cluster):
        assert penstock_cluster.create_topic()
        assert len(penstock_cluster.running()) == 3
    """,
        ini="penstock_cluster_size = 3",
    )
    passed(done, "3 passed")


def test_failing_test_shows_the_brokers_log(run_pytest: RunPytest) -> None:
    done = run_pytest(
        """
    def test_fails(penstock_broker):
        assert False

    def test_fails_without():
        assert False
    """
    )
    passed(done, "2 failed")
    assert done.stdout.count("log of <Broker 1") == 1
    assert "started" in done.stdout


def test_settings_come_from_the_configuration(run_pytest: RunPytest) -> None:
    done = run_pytest(
        """
    def test_setting(penstock_broker):
        def read(broker):
            return broker.config.integer("num.partitions")
        assert penstock_broker.thread_home.look(read) == 5
    """,
        ini="""\
        penstock_settings =
            num.partitions = 5
        """,
    )
    passed(done, "1 passed")


def test_kafka_that_is_there_is_used_and_not_tampered_with(run_pytest: RunPytest) -> None:
    text = (
        PRODUCE
        + """
    def test_plain(penstock_broker, penstock_topic):
        assert produce(penstock_broker, penstock_topic) is None

    def test_faults(penstock_broker):
        penstock_broker.faults.drop("Produce")

    def test_kill(penstock_broker):
        penstock_broker.kill()

    def test_cluster(penstock_cluster):
        pass
    """
    )
    with Broker() as broker:
        done = run_pytest(text, "--penstock-bootstrap", broker.bootstrap_servers)
        passed(done, "1 passed, 3 skipped")
        assert broker.requests.count("Produce") == 1


def test_processes_skip_what_needs_a_thread(run_pytest: RunPytest) -> None:
    done = run_pytest(
        PRODUCE
        + """
    def test_plain(penstock_broker, penstock_topic):
        assert penstock_broker.pid
        assert produce(penstock_broker, penstock_topic) is None

    def test_faults(penstock_broker):
        penstock_broker.faults.drop("Produce")
    """,
        "--penstock-process",
    )
    passed(done, "1 passed, 1 skipped")


def test_plugin_costs_nothing_when_unused(run_pytest: RunPytest) -> None:
    done = run_pytest(
        """
    import sys

    def test_unused():
        loaded = {name for name in sys.modules if name.startswith("penstock.")}
        version = {"penstock.model", "penstock.model.version"}
        assert loaded - version == {"penstock.testing", "penstock.testing.plugin"}
        assert "asyncio" not in sys.modules or "penstock.broker" not in sys.modules
    """
    )
    passed(done, "1 passed")


def test_workers_of_xdist_have_brokers_of_their_own(run_pytest: RunPytest, tmp_path: Path) -> None:
    done = run_pytest(
        PRODUCE
        + """
    import os
    import pathlib
    import pytest

    @pytest.mark.parametrize("number", range(6))
    def test_many(penstock_broker, penstock_topic, number):
        assert produce(penstock_broker, penstock_topic) is None
        worker = os.environ["PYTEST_XDIST_WORKER"]
        pathlib.Path(f"port-{worker}-{penstock_broker.port}").touch()
    """,
        *("-n", "2"),
    )
    passed(done, "6 passed")
    ports = [path.name.split("-") for path in tmp_path.glob("port-*")]
    assert len({worker for _, worker, _ in ports}) == len({port for _, _, port in ports}) == len(ports)


def test_entry_point_names_the_module_with_the_fixtures() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    plugin = import_module(declared["penstock"])
    assert {"penstock_broker", "penstock_cluster", "penstock_topic"} <= set(vars(plugin))
