"""An archive anywhere else that Spark can write: HDFS, and what its connectors to object stores make of them.

Hadoop's file systems promise different things. Where renaming is one step that fails if the name is taken, a
commit is made by renaming, as sure as on a local disk. Object stores make a file appear whole when it is
closed, which is as good for one writer; that nobody else took the name is looked up before, so two writers
must not commit at once.
"""

import secrets
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from penstock.model.errors import UsageError
from penstock.spark.archive.errors import ArchiveError
from penstock.spark.archive.stores.store import StoredFile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ATOMIC_RENAME = frozenset({"hdfs", "webhdfs", "swebhdfs", "viewfs", "abfs", "abfss", "ofs", "o3fs"})
"""Schemes of file systems where a rename is one step and never replaces anything."""

_NOT_FOUND = "java.io.FileNotFoundException"
_EXISTS = "org.apache.hadoop.fs.FileAlreadyExistsException"


class HadoopStore:
    """Files by means of the Java that runs Spark, with the credentials that Spark has."""

    def __init__(self, jvm: Any, configuration: Any, root: str, *, renames_atomically: bool) -> None:
        self._jvm = jvm
        self._root = root.rstrip("/")
        self._files = self._path("").getFileSystem(configuration)
        self._absolute_root = str(self._files.makeQualified(self._path("")).toUri().getPath())
        self._renames_atomically = renames_atomically

    @classmethod
    def open(cls, root: str, spark: "SparkSession") -> "HadoopStore":
        """The store of a URI such as ``s3a://bucket/archive``."""
        jvm: Any = getattr(spark, "_jvm", None)
        if jvm is None:
            raise UsageError(
                f"{root!r} can only be reached by a program that runs Spark itself, "
                "not through Spark Connect."
            )
        scheme = root.partition("://")[0]
        configuration = spark._jsc.hadoopConfiguration()
        return cls(jvm, configuration, root, renames_atomically=scheme in ATOMIC_RENAME)

    def uri(self, path: str) -> str:
        """A path as Spark takes it."""
        return f"{self._root}/{path}" if path else self._root

    def path_of(self, uri: str) -> str:
        """The path behind what Spark calls a file."""
        absolute = str(self._jvm.java.net.URI(uri).getPath())
        return absolute.removeprefix(f"{self._absolute_root}/")

    def read(self, path: str) -> bytes:
        """The whole file; ``FileNotFoundError`` if there is none."""
        from py4j.protocol import Py4JJavaError

        try:
            stream = self._files.open(self._path(path))
        except Py4JJavaError as error:
            if _is(error, _NOT_FOUND):
                raise FileNotFoundError(self.uri(path)) from error
            raise
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    def create(self, path: str, data: bytes) -> bool:
        """Make a file appear at once and whole; False, and nothing changed, if the path is taken."""
        if self._files.exists(self._path(path)):
            return False
        if not self._renames_atomically:
            return self._write(path, data)
        directory, _, name = path.rpartition("/")
        temporary = f"{directory}/.{name}.{secrets.token_hex(8)}"
        self._write(temporary, data)
        is_made = bool(self._files.rename(self._path(temporary), self._path(path)))
        if not is_made:
            self.delete(temporary)
            if not self._files.exists(self._path(path)):
                raise ArchiveError(f"{self.uri(path)} could not be made by renaming, for no reason given.")
        return is_made

    def names(self, directory: str) -> list[str]:
        """The names of all files of a directory, in order; none if there is no directory."""
        found = (status for status in self._statuses(directory) if status.isFile())
        return _visible(str(status.getPath().getName()) for status in found)

    def directories(self, directory: str) -> list[str]:
        """The names of all directories below one, in order."""
        found = (status for status in self._statuses(directory) if status.isDirectory())
        return _visible(str(status.getPath().getName()) for status in found)

    def files(self, directory: str) -> Iterator[StoredFile]:
        """All files below a directory, but for those in directories whose names begin with ``_``."""
        for name in self.names(directory):
            path = f"{directory}/{name}" if directory else name
            status = self._files.getFileStatus(self._path(path))
            yield StoredFile(path, int(status.getLen()), int(status.getModificationTime()))
        for name in self.directories(directory):
            if not name.startswith("_"):
                yield from self.files(f"{directory}/{name}" if directory else name)

    def move(self, moves: Iterable[tuple[str, str]]) -> None:
        """Give files other paths."""
        for source, target in moves:
            self._files.mkdirs(self._path(target.rpartition("/")[0]))
            if not self._files.rename(self._path(source), self._path(target)):
                raise ArchiveError(f"{self.uri(source)} could not be renamed to {self.uri(target)}.")

    def delete(self, path: str) -> None:
        """Delete a file, or a directory with everything in it; nothing if there is none."""
        self._files.delete(self._path(path), True)

    def _path(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self.uri(path))

    def _statuses(self, directory: str) -> list[Any]:
        from py4j.protocol import Py4JJavaError

        try:
            return list(self._files.listStatus(self._path(directory)))
        except Py4JJavaError as error:
            if _is(error, _NOT_FOUND):
                return []
            raise

    def _write(self, path: str, data: bytes) -> bool:
        """Write a new file; False if there is one already."""
        from py4j.protocol import Py4JJavaError

        try:
            stream = self._files.create(self._path(path), False)
        except Py4JJavaError as error:
            if _is(error, _EXISTS):
                return False
            raise
        try:
            stream.write(bytearray(data))
        finally:
            stream.close()
        return True


def _visible(names: Iterable[str]) -> list[str]:
    """Without checksums and what is not finished, which Hadoop hides by a dot in front."""
    return sorted(name for name in names if not name.startswith("."))


def _is(error: Any, java_class: str) -> bool:
    return str(error.java_exception.getClass().getName()) == java_class
