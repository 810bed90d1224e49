"""All kinds of workload, by the settings that describe them in a plan."""

from penstock.sim.workloads.administrator import Administrator, AdministratorSettings
from penstock.sim.workloads.copier import Copier, CopierSettings
from penstock.sim.workloads.group_member import GroupMember, MemberSettings
from penstock.sim.workloads.producers import IdempotentProducer, PlainProducer, ProducerSettings
from penstock.sim.workloads.reader import Reader, ReaderSettings
from penstock.sim.workloads.transactional_producer import TransactionalProducer, TransactionalSettings
from penstock.sim.workloads.workload import Workload, WorkloadSurroundings

WorkloadSettings = (
    ProducerSettings
    | TransactionalSettings
    | ReaderSettings
    | MemberSettings
    | CopierSettings
    | AdministratorSettings
)


def make_workload(around: WorkloadSurroundings, settings: WorkloadSettings) -> Workload:
    """The workload that the settings describe."""
    match settings:
        case ProducerSettings():
            kind = IdempotentProducer if settings.is_idempotent else PlainProducer
            return kind(around, settings)
        case TransactionalSettings():
            return TransactionalProducer(around, settings)
        case ReaderSettings():
            return Reader(around, settings)
        case MemberSettings():
            return GroupMember(around, settings)
        case CopierSettings():
            return Copier(around, settings)
        case AdministratorSettings():
            return Administrator(around, settings)


def is_source(settings: WorkloadSettings) -> bool:
    """Whether it makes work for others, and so has to stop first."""
    return isinstance(settings, ProducerSettings | TransactionalSettings | AdministratorSettings)
