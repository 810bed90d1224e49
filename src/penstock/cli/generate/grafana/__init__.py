"""Dashboards for Grafana, made from tables of panels: one module a dashboard, and one that renders them."""
