"""Clients that a child of ``fork`` has from its parent."""

import subprocess
import sys

import pytest

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

ASYNC_PROGRAM = """
import asyncio, os, sys
from penstock import AsyncAdmin, AsyncConsumer, AsyncProducer
from penstock.client.errors import ClosedError

broker, topic = sys.argv[1:]
settings = {"bootstrap_servers": broker}

async def use():
    producer, consumer, admin = AsyncProducer(**settings), AsyncConsumer(**settings), AsyncAdmin(**settings)
    await producer.send(topic, b"parent's")
    await producer.flush()
    await consumer.assign({(topic, 0): 0})
    assert (await consumer.consume_one(30)).value == b"parent's"
    assert topic in await admin.list_topics()
    return producer, consumer, admin

async def be_refused(producer, consumer, admin):
    for call in (producer.flush, consumer.poll, consumer.commit, consumer.assignment, admin.list_topics):
        try:
            async with asyncio.timeout(20):
                await call()
        except ClosedError as error:
            assert "before the process was forked" in str(error)
        else:
            raise AssertionError(call)
    async with asyncio.timeout(20):
        await consumer.close()
        await producer.close()

clients = asyncio.run(use())
if (child := os.fork()) == 0:
    asyncio.run(be_refused(*clients))
    os.write(1, b"child\\n")
else:
    assert os.waitpid(child, 0)[1] == 0
    os.write(1, b"parent\\n")
"""


@pytest.mark.parametrize("program", [PROGRAM, ASYNC_PROGRAM], ids=["plain", "asynchronous"])
def test_child_is_told_that_clients_are_its_parent_s_and_leaves_them_alone(
    broker: str, topic: str, program: str
) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", program, broker, topic],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, "child\nparent\n"), ended.stderr
