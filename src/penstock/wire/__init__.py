"""Kafka's wire protocol: messages declared once, read and written at every version. Bytes in, values out.

Look at ``api_keys`` for what is spoken, at ``messages`` for how each message looks, at ``framing`` for the
functions a connection calls. ``schema`` is the language messages are declared in, ``compiler`` turns a
declaration into code. Nothing here touches a socket, a clock or a file.
"""
