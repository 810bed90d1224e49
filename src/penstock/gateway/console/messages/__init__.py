"""Messages of a topic for people: pages, searches, live ones, exports, and writing new ones.

``reading`` gets records in whole batches; ``page`` and ``search`` choose among them; ``payloads`` and
``schemas`` make bytes readable. Everything is read for one request and forgotten; nothing here is a member
of a group.
"""
