"""REST over a cluster: records, topics, groups, brokers. ``router`` lists what there is."""
