"""Deciding how a session is to be started; ``session.py`` then does it."""

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.spark.sessions.archive import Archive, ArchiveUse
from penstock.spark.sessions.explanation import Explanation
from penstock.spark.sessions.jvm import RUNNING, SETTINGS, Jvm, choose_jvm
from penstock.spark.sessions.jvm_options import given_options
from penstock.spark.sessions.master import DEFAULT_MASTER, local_core_count
from penstock.spark.sessions.setting import Origin, Setting
from penstock.spark.sessions.surroundings import Surroundings
from penstock.spark.sessions.tuning import tuned_settings
from penstock.spark.sessions.worker_python import WorkerPython, choose_python

DEFAULT_NAME = "penstock"
_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the caller of ``session`` said."""

    conf: Mapping[str, str]
    name: str | None = None
    master: str | None = None
    is_short: bool = False
    has_interface: bool = False
    archive_use: ArchiveUse = ArchiveUse.AUTO

    def settings(self) -> dict[str, str]:
        """All that was said in the form of settings; ``conf`` has the last word."""
        said = {"spark.app.name": self.name, "spark.master": self.master}
        return {name: value for name, value in said.items() if value} | dict(self.conf)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """How to start it."""

    variables: Mapping[str, str]
    """Of the environment, while it starts."""

    explanation: Explanation
    """Its settings are what Spark is given."""

    archive_in_use: Archive | None = None
    archive_to_make: Archive | None = None


def choose(
    wishes: Wishes, around: Surroundings, *, given: Mapping[str, Setting], is_jvm_running: bool
) -> Choices:
    """Wishes win over what was given, what was given wins over our defaults."""
    known = {name: setting.value for name, setting in given.items()} | wishes.settings()
    master = known.get("spark.master") or around.environment.get("MASTER") or DEFAULT_MASTER
    core_count = local_core_count(master)
    jvm = RUNNING if is_jvm_running else _choose_jvm(wishes, around, known, core_count=core_count)
    python = _choose_python(around, known) if core_count is not None else None
    ours = {"spark.master": master, "spark.app.name": DEFAULT_NAME}
    ours |= tuned_settings(core_count=core_count, jvm_options=jvm.options, has_interface=wishes.has_interface)
    too_late = _too_late(wishes, given) if is_jvm_running else ()
    asked = wishes.settings().items() - {(setting.name, setting.value) for setting in too_late}
    return Choices(
        variables=_variables(jvm, python, around, known),
        archive_in_use=jvm.archive_in_use,
        archive_to_make=jvm.archive_to_make,
        explanation=Explanation(
            session=f"Spark {around.spark_version} on {master}",
            java=jvm.java,
            python=python.why if python else "as Spark finds it there",
            archive=jvm.archive,
            settings=_settings(ours, given=given, asked=dict(asked)),
            unapplied=too_late,
        ),
    )


def _choose_jvm(
    wishes: Wishes, around: Surroundings, known: Mapping[str, str], *, core_count: int | None
) -> Jvm:
    own = known.get("spark.driver.defaultJavaOptions", ""), known.get("spark.driver.extraJavaOptions", "")
    return choose_jvm(
        around,
        core_count=core_count,
        is_short=wishes.is_short,
        archive_use=wishes.archive_use,
        given_options=given_options(around.environment, *own),
    )


def _choose_python(around: Surroundings, known: Mapping[str, str]) -> WorkerPython:
    return choose_python(around.environment, known, directory=around.directory)


def _variables(
    jvm: Jvm, python: WorkerPython | None, around: Surroundings, known: Mapping[str, str]
) -> dict[str, str]:
    if python is None:
        return dict(jvm.variables)
    variables = {**jvm.variables, **python.variables}
    if not {"spark.driver.host", "spark.driver.bindAddress"} & known.keys():
        # Without it Spark looks for an address that others can reach, warns about it, and listens there.
        variables["SPARK_LOCAL_IP"] = around.environment.get("SPARK_LOCAL_IP") or _LOOPBACK
    return variables


def _settings(
    ours: Mapping[str, str], *, given: Mapping[str, Setting], asked: Mapping[str, str]
) -> tuple[Setting, ...]:
    made = [
        Setting(name=name, value=value, origin=Origin.PENSTOCK)
        for name, value in ours.items()
        if name not in given and name not in asked
    ]
    said = [Setting(name=name, value=value, origin=Origin.ASKED) for name, value in asked.items()]
    return tuple(sorted([*made, *said], key=lambda setting: setting.name))


def _too_late(wishes: Wishes, given: Mapping[str, Setting]) -> tuple[Setting, ...]:
    return tuple(
        Setting(name=name, value=value, origin=Origin.ASKED)
        for name, value in wishes.conf.items()
        if name in SETTINGS and (name not in given or given[name].value != value)
    )
