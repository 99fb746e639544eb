"""read_otf2.py ARCHIVE: what OTF2's reader finds in it, as JSON."""

import json
import sys

import otf2
from otf2 import events as kinds

def name_of(value):
    return str(value).rsplit(".", 1)[-1]


found = {"locations": {}, "communicators": {}}
with otf2.reader.open(sys.argv[1]) as trace:
    for location in trace.definitions.locations:
        found["locations"].setdefault(location.name, [])
    members = {}
    for comm in trace.definitions.comms:
        members[comm.name] = [location.name for location in comm.group.members] if comm.group.group_type == otf2.GroupType.COMM_GROUP else []
        found["communicators"][comm.name] = sorted(members[comm.name])
    for location, event in trace.events:
        entry = {"kind": type(event).__name__, "time": event.time}
        if isinstance(event, (kinds.Enter, kinds.Leave)):
            region = event.region
            entry |= {"region": region.name, "file": region.source_file, "line": region.begin_line_number, "role": name_of(region.region_role)}
        elif isinstance(event, (kinds.MpiSend, kinds.MpiRecv)):
            peer = event.receiver if isinstance(event, kinds.MpiSend) else event.sender
            entry |= {"peer": members[event.communicator.name][peer], "comm": event.communicator.name, "tag": event.msg_tag, "bytes": event.msg_length}
        elif isinstance(event, kinds.MpiCollectiveEnd):
            entry |= {"operation": name_of(event.collective_op), "comm": event.communicator.name}
        found["locations"][location.name].append(entry)
json.dump(found, sys.stdout)
