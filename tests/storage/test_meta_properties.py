from random import Random

import pytest

from penstock.model.errors import OperatingError
from penstock.model.ids import NodeId
from penstock.storage.atomic_file import write_atomically
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.meta_properties import (
    MetaProperties,
    check_identity,
    read_meta_properties,
    write_meta_properties,
)

META = MetaProperties(cluster_id="4L6g3nShT-eMCtK--X86sw", node_id=NodeId(3), directory_id=bytes(range(16)))


@pytest.fixture
def fs() -> MemoryFileSystem:
    fs = MemoryFileSystem(Random(1))
    fs.make_directory("/data")
    return fs


def test_meta_properties_read_back_what_was_written(fs: MemoryFileSystem) -> None:
    write_meta_properties(fs, "/data", META)
    assert read_meta_properties(fs, "/data") == META
    lines = fs.read_file("/data/meta.properties").decode().splitlines()
    assert "version=1" in lines
    assert "node.id=3" in lines
    assert "directory.id=AAECAwQFBgcICQoLDA0ODw" in lines


def test_meta_properties_of_a_new_directory_are_none(fs: MemoryFileSystem) -> None:
    assert read_meta_properties(fs, "/data") is None


def test_meta_properties_as_java_writes_them_are_read(fs: MemoryFileSystem) -> None:
    content = (
        b"#\n#Sat Nov 15 10:00:00 UTC 2025\ncluster.id : a\\=b\\:c\nnode.id= 3\r\n\n"
        b"directory.id=AAECAwQFBgcICQoLDA0ODw\nversion=1\n"
    )
    write_atomically(fs, "/data/meta.properties", content)
    meta = read_meta_properties(fs, "/data")
    assert meta == MetaProperties(cluster_id="a=b:c", node_id=NodeId(3), directory_id=bytes(range(16)))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"version=0\nbroker.id=3\n",
        b"version=1\ncluster.id=x\nnode.id=three\ndirectory.id=AAECAwQFBgcICQoLDA0ODw\n",
        b"version=1\ncluster.id=x\nnode.id=3\n",
        b"version=1\ncluster.id=\nnode.id=3\ndirectory.id=AAECAwQFBgcICQoLDA0ODw\n",
        b"version=1\ncluster.id=x\nnode.id=3\ndirectory.id=short\n",
        b"\xff\xff",
    ],
)
def test_damaged_meta_properties_stop_the_start_and_say_what_to_do(
    fs: MemoryFileSystem, content: bytes
) -> None:
    write_atomically(fs, "/data/meta.properties", content)
    with pytest.raises(OperatingError, match=r"/data/meta.properties .* backup"):
        read_meta_properties(fs, "/data")


def test_check_identity_accepts_its_own_and_an_unknown_cluster() -> None:
    check_identity("/data", META, node_id=NodeId(3), cluster_id=META.cluster_id)
    check_identity("/data", META, node_id=NodeId(3), cluster_id=None)


def test_check_identity_refuses_another_node() -> None:
    with pytest.raises(OperatingError, match="belongs to node 3, but this is node 4"):
        check_identity("/data", META, node_id=NodeId(4), cluster_id=None)


def test_check_identity_refuses_another_cluster() -> None:
    with pytest.raises(OperatingError, match="belongs to cluster 4L6g3nShT-eMCtK--X86sw"):
        check_identity("/data", META, node_id=NodeId(3), cluster_id="another")
