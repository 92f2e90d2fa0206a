"""What the test drivers share: a lake to work on, a running dq, tokens."""
