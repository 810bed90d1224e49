"""The metadata log of this node as part of a quorum: the shell around ``penstock.raft``.

``quorum`` is the door: decisions in, images out. ``raft_driver`` keeps the contract of ``raft.output``;
``quorum_disk`` is the node's disk (log, hard state, snapshots), ``restoring`` what a start finds on it;
``correspondence`` speaks with peers; ``image_keeper`` makes images of committed entries; ``proposals`` tells
those who wait what became of theirs; ``metadata_snapshots`` takes and installs snapshots.
"""
