"""``penstock.spark.session``: a Spark that starts, without anything to set up before.

::

    from penstock.spark import session

    spark = session()
    spark.read.format("penstock").option("subscribe", "orders").load()

Everything that is decided is decided in ``choices.py``; here it is done, and remembered for ``explain``.
"""

import logging
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from penstock.model.errors import UsageError
from penstock.spark.sessions.archive import ArchiveUse
from penstock.spark.sessions.archive_making import make_in_background
from penstock.spark.sessions.choices import Choices, Wishes, choose
from penstock.spark.sessions.connect import missing_packages
from penstock.spark.sessions.errors import ConnectNotInstalledError
from penstock.spark.sessions.explanation import Explanation
from penstock.spark.sessions.given_settings import given_settings
from penstock.spark.sessions.running import active_session, is_jvm_running, running_settings
from penstock.spark.sessions.setting import Origin, Setting, as_texts
from penstock.spark.sessions.surroundings import Surroundings, surroundings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ARCHIVE_VARIABLE = "PENSTOCK_SPARK_ARCHIVE"
"""``auto``, ``existing`` or ``off``, for where the program itself does not say."""

_log = logging.getLogger("penstock.spark")
_last: Explanation | None = None
_remote: str | None = None
"""Where the last session of Spark Connect went; the session itself does not tell."""


def session(
    name: str | None = None,
    master: str | None = None,
    *,
    remote: str | None = None,
    short: bool = False,
    ui: bool = False,
    conf: Mapping[str, object] | None = None,
    archive: Literal["auto", "existing", "off"] | None = None,
) -> "SparkSession":
    """A session of Spark, started with what suits one machine, or the one that this program already has.

    ``master`` is where the work is done, ``local[*,4]`` if nobody says otherwise; ``remote`` reaches a Spark
    elsewhere through Spark Connect (``sc://host``) and needs no Java here. ``short`` is for programs that end
    within a minute: Java then compiles quickly rather than well. ``ui`` serves Spark's web pages. ``conf``
    wins over every setting of ours, as do ``spark-defaults.conf`` and ``PYSPARK_SUBMIT_ARGS``.

    Java starts in half the time with an archive of class data; ``auto`` makes one in the background after
    the first start, ``existing`` only uses what is there, ``off`` does without.

    :func:`explain` tells what was chosen. Raises :class:`JavaNotFoundError` with advice if there is no Java.
    """
    wishes = Wishes(
        name=name,
        master=master,
        conf=as_texts(conf or {}),
        is_short=short,
        has_interface=ui,
        archive_use=_archive_use(archive),
    )
    around = surroundings(os.environ)
    active = active_session()
    if active is not None:
        _remember(_found(active, wishes, remote=remote))
        return active
    where = remote or (None if master else os.environ.get("SPARK_REMOTE"))
    return _start(wishes, around) if where is None else _connect(where, wishes)


def explain() -> Explanation:
    """What was chosen for the session that :func:`session` returned last."""
    if _last is None:
        raise UsageError("There is nothing to explain yet: call penstock.spark.session() first.")
    return _last


def _start(wishes: Wishes, around: Surroundings) -> "SparkSession":
    from pyspark.sql import SparkSession

    is_running = is_jvm_running()
    given = running_settings() if is_running else given_settings(around.environment, around.spark_home)
    choices = choose(wishes, around, given=given, is_jvm_running=is_running)
    builder = SparkSession.builder
    for setting in choices.explanation.settings:
        builder = builder.config(setting.name, setting.value)
    began = time.perf_counter()
    with _environment(choices.variables):
        spark = builder.getOrCreate()
    seconds = time.perf_counter() - began
    told = replace(choices.explanation, session=f"{choices.explanation.session}, started in {seconds:.1f} s")
    _remember(_with_archive(told, choices, around))
    return spark


def _with_archive(told: Explanation, choices: Choices, around: Surroundings) -> Explanation:
    if choices.archive_in_use is not None:
        os.utime(choices.archive_in_use.path)  # so that the one least recently used can be told
    if choices.archive_to_make is None:
        return told
    is_begun = make_in_background(choices.archive_to_make, around.environment)
    return replace(told, archive="none yet; being made in the background" if is_begun else told.archive)


def _connect(remote: str, wishes: Wishes) -> "SparkSession":
    from pyspark.sql import SparkSession

    if not remote.startswith("sc://"):
        raise UsageError(
            f"remote={remote!r} is no address of Spark Connect, such as sc://host:15002; "
            "a Spark on this machine is asked for with master."
        )
    if missing := missing_packages():
        raise ConnectNotInstalledError(remote, missing)
    settings = _asked(wishes.settings())
    builder = SparkSession.builder.remote(remote)
    for setting in settings:
        builder = builder.config(setting.name, setting.value)
    spark = builder.getOrCreate()
    global _remote
    _remote = remote
    _remember(Explanation(session=f"Spark {spark.version} at {remote}", settings=settings))
    return spark


def _found(active: "SparkSession", wishes: Wishes, *, remote: str | None) -> Explanation:
    """Nothing is changed in a session that somebody else has begun and may rely upon."""
    asked = wishes.settings()
    differing = {name: value for name, value in asked.items() if active.conf.get(name, None) != value}
    if remote and remote != _remote:
        differing["spark.remote"] = remote
    words = f"Spark {active.version}, which was already running"
    return Explanation(session=words, unapplied=_asked(differing))


def _asked(settings: Mapping[str, str]) -> tuple[Setting, ...]:
    return tuple(Setting(name=name, value=text, origin=Origin.ASKED) for name, text in settings.items())


def _archive_use(asked: str | None) -> ArchiveUse:
    text = asked or os.environ.get(ARCHIVE_VARIABLE) or ArchiveUse.AUTO
    try:
        return ArchiveUse(text)
    except ValueError as error:
        who = "archive" if asked else ARCHIVE_VARIABLE
        raise UsageError(f"{who} is {text!r}, but must be one of {', '.join(ArchiveUse)}.") from error


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Only while Spark starts, which copies them: the program's own environment is not ours to change."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _remember(explanation: Explanation) -> None:
    global _last
    _last = explanation
    _log.log(logging.WARNING if explanation.unapplied else logging.INFO, "%s", explanation.summary())
