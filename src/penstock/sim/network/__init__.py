"""A network of simulated hosts: byte streams as TCP gives them to a process, and all that can happen to them.

``network`` knows hosts, listeners and links; ``pipe`` is one direction of a connection; ``transport`` is what
asyncio's protocols hold. Streams keep their order and lose nothing while they live, as TCP's do: loss is
delay, and a cut link holds bytes back until it heals or somebody gives up.
"""
