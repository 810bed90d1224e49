"""What replies must never carry: stack traces, paths, other people's data."""

import random
import struct

import pytest
from tests.broker_process import Server
from tests.raw_kafka import Connection, array, blob, request_frame, string, values_batch

pytestmark = pytest.mark.chaos

FORBIDDEN = (b"Traceback", b'File "', b".py", b"site-packages", b"Errno", b"object at 0x")
DESCRIBE_LOG_DIRS = 35
"""The one API whose business it is to name a directory."""


def replies_to(server: Server, frame: bytes) -> bytes:
    """Everything the broker says until it hangs up."""
    said = b""
    with Connection(server.bootstrap, timeout=10) as connection:
        connection.send(frame)
        connection.hang_up_sending()
        try:
            while piece := connection.socket.recv(65536):
                said += piece
        except ConnectionError:
            pass
    return said


@pytest.mark.parametrize("seed", range(4))
def test_replies_to_nonsense_reveal_nothing_of_the_inside(shared_victim: Server, seed: int) -> None:
    """Random bodies for every served API and version; most are dropped, some parse and fail later."""
    dice = random.Random(f"silence {seed}")
    with Connection(shared_victim.bootstrap) as connection:
        served = connection.api_versions()
    data_directory = str(shared_victim.data_directory).encode()
    pieces = [
        string("pulse"),
        string("../x"),
        string(None),
        array([]),
        array(None),
        blob(values_batch(b"x")),
        struct.pack(">i", 0),
        struct.pack(">i", 1),
        struct.pack(">q", -1),
        struct.pack(">h", -1),
        b"\0",
        b"\1",
        b"\2a",
    ]
    for key, (low, high) in sorted(served.items()):
        if key == DESCRIBE_LOG_DIRS:
            continue
        for version in range(low, high + 1):
            body = b"".join(dice.choice(pieces) for _ in range(dice.randint(0, 8)))
            said = replies_to(
                shared_victim, request_frame(key, version, body, tagged_header=dice.choice([b"", b"\0"]))
            )
            for word in (*FORBIDDEN, data_directory):
                assert word not in said, f"API {key} version {version} reveals {word!r}: {said!r}"
    assert shared_victim.is_running
