"""A broker as a member of a cluster, and the controller that one of them is at any time.

``membership`` registers this broker and tells the controller that it lives; ``joining`` gives a new directory
its place before that. ``channel`` finds the active controller, wherever it is, and asks it. ``controller`` is
what this broker does while it leads the quorum. ``following`` brings everything here in line with the image.
"""
