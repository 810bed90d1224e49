"""How a broker asks others: connections to peers, opened when needed, bounded, and given up when in doubt.

``peers`` is the door; ``line`` holds the connections of one lane to one peer and the questions that wait for
them; ``peer_connection`` is one socket. Nothing is ever asked twice from here: whoever asks learns whether
the question left, and decides what may be repeated.
"""
