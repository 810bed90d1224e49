"""What a request for a change comes to: pure functions of the request and the state; nothing is written."""
