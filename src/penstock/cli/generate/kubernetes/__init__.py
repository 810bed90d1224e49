"""Kubernetes: plain manifests, and a Helm chart, from the same templates.

A word of a template is a value in the manifests and an expression of Helm in the chart; where there is one
thing for each pod, the manifests repeat it and the chart has a loop.
"""
