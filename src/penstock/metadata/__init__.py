"""The cluster's metadata: records, the image they add up to, and the decisions that produce them.

Decide, append, replay: a request becomes records and a response (``topic_creation``, ``topic_deletion``,
``partition_creation``, ``config_changes``, ``producer_ids``, ``registration``); the shell appends the records
to the metadata log; ``ClusterImage.apply`` is the only thing that changes what the cluster believes. Answers
that change nothing (``describe_*``) are plain functions of an image.

Of a cluster: brokers come and go by ``joining``, ``broker_registration``, ``liveness``, ``fencing`` and
``decommission``; ``partition_change`` holds the rules of elections, which ``leadership`` applies to whole
brokers, ``alter_partition`` to leaders that ask, ``leader_election`` and ``reassignment`` to people who ask.
Planners (``growth``, ``rebalancing``, ``voters``, ``decommission``) answer with what should be done next, and
``upkeep`` does what is due.
``snapshot`` is an image as records.
"""
