"""What the machine itself writes into the log, in Kafka's encoding: who leads, who votes.

Kafka's ``LeaderChangeMessage`` and ``VotersRecord`` (KIP-853), so that its tools can read the metadata log.
"""

from penstock.model.ids import NodeId
from penstock.raft.entry import Payload
from penstock.raft.replica import Endpoint, ReplicaKey, Voter
from penstock.raft.voters import VoterSet, voter_set
from penstock.records.control import ControlType, build_control_batch
from penstock.wire.compiler import decode_struct, encode_struct
from penstock.wire.primitives import INT16, INT32, STRING, UINT16, UUID
from penstock.wire.schema import Struct, array, field, struct

LEADER_CHANGE_VERSION = 1
VOTERS_VERSION = 0


class LeaderChangeVoter(Struct):
    """A voter, as leaders name it."""

    voter_id: int = field(INT32)
    voter_directory_id: bytes = field(UUID, "1+")


class LeaderChangeMessage(Struct):
    """A leader's first entry."""

    version: int = field(INT16)
    leader_id: int = field(INT32)
    voters: tuple[LeaderChangeVoter, ...] = array(LeaderChangeVoter)
    granting_voters: tuple[LeaderChangeVoter, ...] = array(LeaderChangeVoter)


class VotersRecordEndpoint(Struct):
    """Where a voter can be reached."""

    name: str = field(STRING)
    host: str = field(STRING)
    port: int = field(UINT16)


class KRaftVersionFeature(Struct):
    """Which versions of the protocol a voter speaks."""

    min_supported_version: int = field(INT16)
    max_supported_version: int = field(INT16, default=1)


class VotersRecordVoter(Struct):
    """One voter."""

    voter_id: int = field(INT32)
    voter_directory_id: bytes = field(UUID)
    endpoints: tuple[VotersRecordEndpoint, ...] = array(VotersRecordEndpoint)
    kraft_version_feature: KRaftVersionFeature = struct(KRaftVersionFeature)


class VotersRecord(Struct):
    """All of them."""

    version: int = field(INT16)
    voters: tuple[VotersRecordVoter, ...] = array(VotersRecordVoter)


class ControlBatches:
    """Control entries as record batches."""

    def leader_change(self, leader: ReplicaKey, voters: VoterSet) -> Payload:
        """Who leads, and who could have voted for it."""
        known = tuple(
            LeaderChangeVoter(voter_id=key.node_id, voter_directory_id=key.directory_id)
            for key in voters.keys
        )
        message = LeaderChangeMessage(version=LEADER_CHANGE_VERSION, leader_id=leader.node_id, voters=known)
        value = encode_struct(message, version=LEADER_CHANGE_VERSION, flexible=True)
        return build_control_batch(ControlType.LEADER_CHANGE, value, timestamp=0)

    def voters(self, voters: VoterSet) -> Payload:
        """Who votes."""
        message = VotersRecord(version=VOTERS_VERSION, voters=tuple(map(_written, voters.voters)))
        value = encode_struct(message, version=VOTERS_VERSION, flexible=True)
        return build_control_batch(ControlType.KRAFT_VOTERS, value, timestamp=0)


def read_voters(value: bytes) -> VoterSet:
    """The set that a voters record names."""
    record: VotersRecord = decode_struct(VotersRecord, value, version=VOTERS_VERSION, flexible=True)
    return voter_set(
        Voter(
            key=ReplicaKey(NodeId(voter.voter_id), voter.voter_directory_id),
            endpoints=tuple(
                Endpoint(name=each.name, host=each.host, port=each.port) for each in voter.endpoints
            ),
        )
        for voter in record.voters
    )


def _written(voter: Voter) -> VotersRecordVoter:
    return VotersRecordVoter(
        voter_id=voter.key.node_id,
        voter_directory_id=voter.key.directory_id,
        endpoints=tuple(
            VotersRecordEndpoint(name=each.name, host=each.host, port=each.port) for each in voter.endpoints
        ),
    )
