"""``penstock config``: settings of topics, brokers and the whole cluster, as they are in force."""
