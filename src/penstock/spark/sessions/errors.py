"""What can keep a Spark from starting; every message ends with what to type."""

from collections.abc import Sequence

from penstock.model.errors import OperatingError

GET_JAVA = (
    "Install Java 17 or newer: `pip install 'penstock[java]'` in this environment, or "
    "`apt-get install openjdk-17-jre-headless` on Debian and Ubuntu, or `brew install openjdk@17` on a Mac; "
    "or let JAVA_HOME name one that is there."
)


class SparkStartError(OperatingError):
    """Spark cannot be started here as things are."""


class JavaNotFoundError(SparkStartError):
    """There is no Java that Spark could run on."""

    def __init__(self, rejected: Sequence[str] = ()) -> None:
        seen = f" Not good enough: {'; '.join(rejected)}." if rejected else ""
        super().__init__(f"Spark needs Java 17 or newer, and there is none.{seen} {GET_JAVA}")


class SparkNotInstalledError(SparkStartError):
    """There is no pyspark."""

    def __init__(self, reason: ImportError) -> None:
        super().__init__(f"pyspark cannot be imported ({reason}): `pip install 'penstock[spark]'`.")


class ConnectNotInstalledError(SparkStartError):
    """There is a pyspark, but not what it needs to talk to a Spark elsewhere."""

    def __init__(self, remote: str, missing: Sequence[str]) -> None:
        super().__init__(
            f"{remote} is reached through Spark Connect, for which {', '.join(missing)} must be installed: "
            "`pip install 'pyspark[connect]' 'pandas>=2.2,<3'`."
        )
