"""Where nodes are: the newest word counts."""

from penstock.broker.peers.address import Address
from penstock.broker.quorum.addresses import Addresses
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import BrokerEndpoint, RegisterBrokerRecord
from penstock.model.ids import NodeId
from penstock.raft.replica import Endpoint, ReplicaKey, Voter
from penstock.raft.voters import VoterSet

NODE = NodeId(2)
VOTER = Voter(
    key=ReplicaKey(NODE, b"d" * 16), endpoints=(Endpoint(name="PLAINTEXT", host="recorded", port=1),)
)


def registered(host: str, epoch: int, *directories: bytes) -> ClusterImage:
    endpoint = BrokerEndpoint(name="PLAINTEXT", host=host, port=2, security_protocol=0)
    record = RegisterBrokerRecord(
        broker_id=NODE, broker_epoch=epoch, end_points=(endpoint,), log_dirs=directories
    )
    return ClusterImage().apply([record])


def test_node_that_nobody_knows_has_no_address() -> None:
    assert Addresses().address_of(NODE) is None


def test_registration_counts_more_than_the_record_of_voters() -> None:
    addresses = Addresses()
    addresses.voters = VoterSet((VOTER,))
    assert addresses.address_of(NODE) == Address("recorded", 1)
    addresses.follow(ClusterImage(), registered("registered", 1))
    assert addresses.address_of(NODE) == Address("registered", 2)


def test_what_a_node_says_counts_until_it_registers_anew() -> None:
    addresses, first, second = Addresses(), registered("first", 1), registered("second", 2)
    addresses.follow(ClusterImage(), first)
    addresses.note(VOTER.key, Address("said", 3))
    assert addresses.address_of(NODE) == Address("said", 3)
    addresses.follow(first, registered("first", 1))
    assert addresses.address_of(NODE) == Address("said", 3)
    addresses.follow(first, second)
    assert addresses.address_of(NODE) == Address("second", 2)


def test_forgotten_directory_is_not_taken_for_the_one_that_has_its_id_now() -> None:
    addresses, image = Addresses(), registered("registered", 1, b"e" * 16)
    addresses.follow(ClusterImage(), image)
    addresses.note(VOTER.key, Address("forgotten", 3))
    assert addresses.address_of(NODE) == Address("registered", 2)
    assert addresses.address_of_replaced(VOTER.key) == Address("forgotten", 3)
    assert addresses.address_of_replaced(ReplicaKey(NODE, b"e" * 16)) is None
    addresses.note(ReplicaKey(NODE, b"e" * 16), Address("said", 4))
    assert addresses.address_of(NODE) == Address("said", 4)
    addresses.follow(image, ClusterImage())
    assert addresses.address_of_replaced(VOTER.key) is None


def test_voter_is_believed_whatever_directory_is_registered() -> None:
    addresses = Addresses()
    addresses.voters = VoterSet((VOTER,))
    addresses.follow(ClusterImage(), registered("registered", 1, b"e" * 16))
    addresses.note(VOTER.key, Address("said", 3))
    assert addresses.address_of(NODE) == Address("said", 3)


def test_what_others_say_counts_least() -> None:
    addresses = Addresses()
    addresses.note_rumour(NODE, Address("rumoured", 4))
    assert addresses.address_of(NODE) == Address("rumoured", 4)
    addresses.voters = VoterSet((VOTER,))
    assert addresses.address_of(NODE) == Address("recorded", 1)


def test_those_to_begin_with_are_asked_in_turn() -> None:
    addresses = Addresses((Address("a", 1), Address("b", 2)))
    assert [addresses.address_of_anybody() for _ in range(3)] == [("a", 1), ("b", 2), ("a", 1)]
    assert Addresses().address_of_anybody() is None
