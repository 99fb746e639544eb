"""TCP ports for the tests' own servers."""

import random
import socket


def free_ports(count):
    """Ports of loopback on which nobody listens, below those that the kernel gives to outgoing connections. Somebody may still take one before
    the server does: it has to be started again then."""
    found = []
    while len(found) < count:
        port = random.SystemRandom().randrange(10000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in found:
            found.append(port)
    return found
