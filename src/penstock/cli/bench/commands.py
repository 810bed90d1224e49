"""``penstock bench produce|consume|latency|all``: load for any Kafka-protocol broker."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.bench.report import print_measurements, run_with_progress
from penstock.cli.librdkafka import require_reachable
from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, Json, examples, new_app
from penstock.cli.record_choices import Acks, Client, Compression

RecordBytes = Annotated[int, typer.Option("--record-size", min=1, help="Bytes of a record's value.")]
Seconds = Annotated[float, typer.Option("--seconds", min=0.1, help="How long to measure.")]
WarmUp = Annotated[float, typer.Option("--warm-up", min=0, help="Seconds before that, which do not count.")]
AcksOption = Annotated[Acks, typer.Option("--acks", help="Whose acknowledgement to wait for.")]
ClientOption = Annotated[
    Client, typer.Option("--client", help="Prebuilt raw requests, or librdkafka as applications use it.")
]
Topic = Annotated[
    str | None,
    typer.Option("--topic", help="Use this topic; otherwise one is made for the run and deleted."),
]
Partitions = Annotated[int, typer.Option("--partitions", min=1, help="Of the topic that is made.")]
Connections = Annotated[int, typer.Option("--connections", min=1, help="To every broker.")]
DataDirectory = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        exists=True,
        file_okay=False,
        help="The broker's data directory, if it is on this machine: flushes are compared with its disk's.",
    ),
]

bench_app = new_app(
    "Measure any Kafka-protocol broker. Deletes the topics it makes.",
    "penstock bench produce --seconds 10",
    "penstock bench consume --topic orders --client librdkafka",
)


def attach(app: typer.Typer) -> None:
    """Add the group to the tree."""
    app.add_typer(bench_app, name="bench")


@bench_app.command(
    epilog=examples(
        "penstock bench produce",
        "penstock bench produce --batch-size 1000000 --connections 2 --seconds 10",
        "penstock bench produce --batch-size 1 --connections 10    (one record in each request)",
        "penstock bench produce --client librdkafka --json",
    )
)
def produce(  # noqa: PLR0913 - typer wants one argument per option
    batch_bytes: Annotated[
        int, typer.Option("--batch-size", min=1, help="Bytes of a batch; at least one record is in it.")
    ] = 16_384,
    record_bytes: RecordBytes = 100,
    acks: AcksOption = Acks.ALL,
    compression: Annotated[
        Compression, typer.Option("--compression", help="How the batches are compressed.")
    ] = Compression.NONE,
    partitions: Partitions = 4,
    connections: Connections = 4,
    in_flight: Annotated[
        int, typer.Option("--in-flight", min=1, help="Requests in flight on each connection.")
    ] = 5,
    seconds: Seconds = 5.0,
    warm_up: WarmUp = 1.0,
    records: Annotated[
        int, typer.Option("--records", min=1, help="How many to send; only with --client librdkafka.")
    ] = 2_000_000,
    client: ClientOption = Client.RAW,
    topic: Topic = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """How many records a broker takes in."""
    require_reachable(bootstrap_server)
    from penstock.bench.librdkafka import ClientLoad, measure_client_produce
    from penstock.bench.raw_produce import ProduceLoad, measure_produce
    from penstock.cli.bench.measured_topic import measured_topic
    from penstock.records.compression import Codec

    name = f"produce {record_bytes} B records, acks={acks.value}"
    with measured_topic(bootstrap_server, partitions=partitions, topic=topic) as made:
        if client is Client.LIBRDKAFKA:
            client_load = ClientLoad(
                name=name,
                bootstrap_server=bootstrap_server,
                record_bytes=record_bytes,
                acks=acks.value,
                batch_bytes=batch_bytes,
                compression=compression.value,
                records=records,
            )
            found = run_with_progress(name, lambda tell: measure_client_produce(made, client_load, tell))
        else:
            load = ProduceLoad(
                name=f"{name}, batches of {batch_bytes:,} B",
                record_bytes=record_bytes,
                batch_bytes=batch_bytes,
                codec=Codec[compression.name],
                acks=acks.number,
                connections=connections,
                in_flight=in_flight,
                seconds=seconds,
                warm_up_seconds=warm_up,
            )
            found = run_with_progress(load.name, lambda tell: measure_produce(made, load, tell))
    print_measurements([found], as_json=as_json)


@bench_app.command(
    epilog=examples(
        "penstock bench consume",
        "penstock bench consume --topic orders --client librdkafka",
        "penstock bench consume --fill-mb 2048 --connections 2 --json",
    )
)
def consume(  # noqa: PLR0913 - typer wants one argument per option
    fetch_bytes: Annotated[
        int, typer.Option("--fetch-size", min=1, help="Bytes asked of a partition at once.")
    ] = 1024 * 1024,
    fill_mb: Annotated[
        int, typer.Option("--fill-mb", min=1, help="How much the topic that is made gets to hold.")
    ] = 512,
    batch_bytes: Annotated[
        int, typer.Option("--batch-size", min=1, help="Of the batches it is filled with.")
    ] = 16_384,
    record_bytes: RecordBytes = 100,
    passes: Annotated[int, typer.Option("--passes", min=1, help="How often to read everything.")] = 1,
    partitions: Partitions = 4,
    connections: Connections = 4,
    client: ClientOption = Client.RAW,
    topic: Topic = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """How fast everything in a topic can be read."""
    require_reachable(bootstrap_server)
    from penstock.bench.librdkafka import ClientLoad, measure_client_consume
    from penstock.bench.raw_consume import ConsumeLoad, measure_consume
    from penstock.bench.raw_produce import ProduceLoad, fill
    from penstock.cli.bench.measured_topic import measured_topic

    with measured_topic(bootstrap_server, partitions=partitions, topic=topic) as made:
        if topic is None:
            filling = ProduceLoad(record_bytes=record_bytes, batch_bytes=batch_bytes)
            fill(made, filling, total_bytes=fill_mb * 1_000_000)
        if client is Client.LIBRDKAFKA:
            client_load = ClientLoad(name="consume", bootstrap_server=bootstrap_server)
            found = run_with_progress("consume", lambda tell: measure_client_consume(made, client_load, tell))
        else:
            load = ConsumeLoad(
                name=f"consume, fetches of {fetch_bytes:,} B",
                fetch_bytes=fetch_bytes,
                connections=connections,
                passes=passes,
            )
            found = run_with_progress(load.name, lambda tell: measure_consume(made, load, tell))
    print_measurements([found], as_json=as_json)


@bench_app.command(
    epilog=examples(
        "penstock bench latency",
        "penstock bench latency --rate 1000 --linger-ms 0 --seconds 30",
        "penstock bench latency --data-dir ./penstock-data    (compares with the bare disk)",
    )
)
def latency(
    rate: Annotated[int, typer.Option("--rate", min=1, help="Records in a second.")] = 10_000,
    linger_ms: Annotated[
        float, typer.Option("--linger-ms", min=0, help="Records due within this time go as one batch.")
    ] = 1.0,
    record_bytes: Annotated[int, typer.Option("--record-size", min=8, help="Bytes of a value.")] = 100,
    acks: AcksOption = Acks.ALL,
    seconds: Seconds = 5.0,
    data_dir: DataDirectory = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """How long records take: to a consumer at a fixed rate, and to an acknowledgement one at a time."""
    require_reachable(bootstrap_server)
    from penstock.bench.end_to_end import EndToEndLoad, measure_end_to_end
    from penstock.bench.round_trips import RoundTripLoad, measure_round_trips
    from penstock.bench.topics import bench_topic

    flow = EndToEndLoad(
        name=f"end to end at {rate:,} records/s",
        rate=rate,
        linger_ms=linger_ms,
        record_bytes=record_bytes,
        acks=acks.number,
        seconds=seconds,
    )
    trips = RoundTripLoad(
        name="one acknowledged record at a time",
        record_bytes=record_bytes,
        acks=acks.number or 1,
        seconds=seconds,
        data_directory=data_dir,
    )
    with bench_topic(bootstrap_server, partitions=1) as (partition, *_):
        found = [
            run_with_progress(flow.name, lambda tell: measure_end_to_end(partition, flow, tell)),
            run_with_progress(trips.name, lambda tell: measure_round_trips(partition, trips, tell)),
        ]
    print_measurements(found, as_json=as_json)


@bench_app.command(
    "all",
    epilog=examples(
        "penstock bench all", "penstock bench all --seconds 2 --data-dir ./penstock-data --json > bench.json"
    ),
)
def measure_all(
    seconds: Seconds = 5.0,
    warm_up: WarmUp = 1.0,
    read_mb: Annotated[int, typer.Option("--read-mb", min=1, help="How much to read back.")] = 512,
    client_records: Annotated[
        int, typer.Option("--client-records", min=1, help="How many records go through librdkafka.")
    ] = 2_000_000,
    data_dir: DataDirectory = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Every benchmark, one after another."""
    require_reachable(bootstrap_server)
    from penstock.bench.suite import ROWS, Bench

    bench = Bench(
        bootstrap_server=bootstrap_server,
        seconds=seconds,
        warm_up_seconds=warm_up,
        data_directory=data_dir,
        read_bytes=read_mb * 1_000_000,
        client_records=client_records,
    )
    found = [run_with_progress(row.title, partial(row.measure, bench)) for row in ROWS]
    print_measurements(found, as_json=as_json)
