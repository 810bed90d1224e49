"""What a dashboard consists of, as far as a person chooses it; ``rendering`` knows how Grafana wants it."""

from dataclasses import dataclass
from enum import StrEnum


class PanelKind(StrEnum):
    """How values are shown, in Grafana's words."""

    LINES = "timeseries"
    NUMBER = "stat"
    TABLE = "table"


class Unit(StrEnum):
    """What values are counted in, in Grafana's words."""

    COUNT = "short"
    BYTES = "bytes"
    BYTES_PER_SECOND = "Bps"
    PER_SECOND = "cps"
    SECONDS = "s"
    MILLISECONDS = "ms"
    SHARE = "percentunit"
    TEXT = "none"


class Alarm(StrEnum):
    """When a number is shown in red."""

    NEVER = "never"
    ABOVE_ZERO = "above zero"
    BELOW_ONE = "below one"
    NOT_ONE = "not one"


@dataclass(frozen=True, slots=True)
class Query:
    """An expression of Prometheus, and what its series are called: ``{{instance}}`` is a label's value."""

    expression: str
    legend: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One picture."""

    title: str
    description: str
    queries: tuple[Query, ...]
    kind: PanelKind = PanelKind.LINES
    unit: Unit = Unit.COUNT
    alarm: Alarm = Alarm.NEVER
    #: Of 24 columns.
    width: int = 8
    height: int = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Panels under a heading, from left to right, in as many lines as they need."""

    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A choice at the top of a dashboard: values of a label, one or more or all of them."""

    name: str
    label: str
    #: A series that has the label, and the label.
    metric: str
    values_of: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    """One page."""

    name: str
    title: str
    description: str
    variables: tuple[Variable, ...]
    rows: tuple[Row, ...]


JOB = Variable(name="job", label="Cluster", metric="penstock_build_info", values_of="job")
INSTANCE = Variable(
    name="instance", label="Broker", metric='penstock_build_info{job=~"$job"}', values_of="instance"
)
TOPIC = Variable(name="topic", label="Topic", metric='kafka_topic_partitions{job=~"$job"}', values_of="topic")
GROUP = Variable(
    name="group",
    label="Group",
    metric='kafka_consumergroup_members{job=~"$job"}',
    values_of="consumergroup",
)
CLIENT = Variable(
    name="client", label="Client", metric='penstock_client_info{job=~"$job"}', values_of="client_id"
)


def number(
    title: str,
    description: str,
    expression: str,
    *,
    unit: Unit = Unit.COUNT,
    alarm: Alarm = Alarm.NEVER,
) -> Panel:
    """A small panel with one number."""
    return Panel(
        title=title,
        description=description,
        queries=(Query(expression),),
        kind=PanelKind.NUMBER,
        unit=unit,
        alarm=alarm,
        width=3,
        height=4,
    )


def quantile(share: float, metric: str, *labels: str, where: str = "") -> str:
    """The value of a histogram that so large a share stays below, for each combination of labels."""
    by = ", ".join((*labels, "le"))
    series = f'{metric}_bucket{{job=~"$job"{where}}}'
    return f"histogram_quantile({share}, sum by ({by}) (rate({series}[$__rate_interval])))"
