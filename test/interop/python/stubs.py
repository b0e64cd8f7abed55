"""Drives examples/clients/python/client.py against a gateway and prints what it saw as one JSON document.

Arguments: the address, the token (empty for none) and a prefix for request ids.
"""

import json
import sys

import grpc

import client
from talaria.dm.v1 import delivery_pb2
from talaria.types.v1 import result_pb2


def turn(channel, text, **options):
    """Runs a turn; what was streamed and how it ended."""
    updates = list(client.run_turn(channel, options.pop("agent", "main"), text, **options))
    ended = updates[-1].turn_ended.turn
    return {
        "replayed": updates[0].input_queued.replayed,
        "pieces": [event.delta.text for update in updates for event in update.events.events],
        "input": ended.input_id,
        "outcome": result_pb2.TurnOutcome.Name(ended.outcome),
        "answer": ended.result.final_response,
        "queuedAt": ended.queued_at.ToDatetime().isoformat() + "Z",
    }


def message(channel, body, request_id):
    """Sends a message; every state it went through."""
    seen = list(client.send_message(channel, "main", body, request_id))
    return {
        "delivery": seen[0].delivery_id,
        "states": [delivery_pb2.DeliveryState.Name(delivery.state) for delivery in seen],
        "reply": seen[-1].reply.text,
    }


def refusal(act):
    """What the gateway says of a call that it refuses."""
    try:
        act()
    except grpc.RpcError as error:
        return client.explain(error)
    raise SystemExit("the call was not refused")


def approving(channel, allowed, request_id):
    """Runs a turn that asks for approval and answers; the command that was asked about, too."""
    asked = []
    said = turn(channel, "!approve ls", request_id=request_id, approve=lambda it: asked.append(it.command) or allowed)
    return {**said, "asked": asked}


address, token, prefix = sys.argv[1:]
connection = client.connect(address, token)
stranger = client.connect(address, "tal_wrong")
seen = {
    "services": client.list_services(connection),
    "turn": turn(connection, "Hello from Python", request_id=f"{prefix}-turn"),
    "replay": turn(connection, "Hello from Python", request_id=f"{prefix}-turn"),
    "conflict": refusal(lambda: turn(connection, "Something else", request_id=f"{prefix}-turn")),
    "approved": approving(connection, True, f"{prefix}-approved"),
    "denied": approving(connection, False, f"{prefix}-denied"),
    "message": message(connection, "Ping from Python", f"{prefix}-dm"),
    "messageAgain": message(connection, "Ping from Python", f"{prefix}-dm"),
    "unknownAgent": refusal(lambda: turn(connection, "Hello", agent="nobody")),
    "invalid": refusal(lambda: turn(connection, "", request_id="not a key")),
}
if token:
    seen["stranger"] = refusal(lambda: turn(stranger, "Hello"))
    seen["nobody"] = refusal(lambda: turn(client.connect(address), "Hello"))
print(json.dumps(seen))
