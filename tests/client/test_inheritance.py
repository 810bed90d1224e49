"""Clients that a child of ``fork`` has from its parent."""

import subprocess
import sys

PROGRAM = """
import os, sys
from penstock import Admin, Consumer, Producer
from penstock.client.errors import ClosedError

broker, topic = sys.argv[1:]
settings = {"bootstrap_servers": broker}
with (
    Producer(**settings) as producer,
    Consumer(**settings, auto_offset_reset="earliest") as consumer,
    Admin(**settings) as admin,
):
    producer.send(topic, b"parent's").result()
    consumer.assign([(topic, 0)])
    assert consumer.consume_one(30).value == b"parent's"
    assert topic in admin.list_topics()
    if (child := os.fork()) == 0:
        for call in (lambda: producer.send(topic, b"x"), consumer.poll, admin.list_topics):
            try:
                call()
            except ClosedError as error:
                assert "before the process was forked" in str(error)
            else:
                raise AssertionError(call)
        with Producer(**settings) as own:
            own.send(topic, b"child's").result()
        os.write(1, b"child\\n")
    else:
        assert os.waitpid(child, 0)[1] == 0
        assert consumer.consume_one(30).value == b"child's"
        assert producer.send(topic, b"parent's").result().offset == 2
        os.write(1, b"parent\\n")
"""


def test_child_is_told_that_clients_are_its_parent_s_and_leaves_them_alone(broker: str, topic: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, broker, topic],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, "child\nparent\n"), ended.stderr
