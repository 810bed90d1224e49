"""The asyncio shell: sockets, disks and time for the machines. Decides nothing a machine could decide."""
