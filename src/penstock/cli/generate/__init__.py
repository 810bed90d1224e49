"""``penstock generate``: files with which brokers are run and watched elsewhere than in a terminal.

What it writes is made of ``templates/``, which is part of the package, and of the tables of dashboards in
``grafana/``. The folder ``deploy/`` of the sources is what ``penstock generate all`` writes, no more.
"""
