"""A small HTTP/1.1 server on the broker's own loop: GET, a few fixed paths, tight bounds.

It is no web server and does not become one: what needs more is the gateway's, in another process. Everything
a caller can send is bounded in size and in time, and nothing of it is ever echoed.
"""
