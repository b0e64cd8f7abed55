r"""A small Talaria client in Python. Make the stubs once, in the root of the checkout, then use it:

    pip install grpcio grpcio-tools grpcio-reflection
    mkdir -p .tools/stubs && (cd proto && python -m grpc_tools.protoc -I . --python_out=../.tools/stubs \
        --grpc_python_out=../.tools/stubs $(find talaria google -name '*.proto'))
    export PYTHONPATH=.tools/stubs
    python examples/clients/python/client.py unix:$HOME/.talaria/run/gateway.sock run main "Hello there"
    TALARIA_TOKEN=tal_... python examples/clients/python/client.py 127.0.0.1:7420 send main "Ping"

The gateway knows a caller on its Unix socket by itself; over TCP it wants a token: `talaria tokens create NAME`.
"""

import os
import sys
import uuid

import grpc
from google.rpc import error_details_pb2, status_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from talaria.dm.v1 import delivery_pb2, direct_message_service_pb2 as dm, direct_message_service_pb2_grpc as dm_grpc
from talaria.gateway.v1 import turn_service_pb2 as turns, turn_service_pb2_grpc as turns_grpc
from talaria.types.v1 import result_pb2


class _Bearer(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor, grpc.StreamStreamClientInterceptor):
    def __init__(self, token):
        self._header = ("authorization", f"Bearer {token}")

    def _call(self, proceed, details, request):
        return proceed(details._replace(metadata=[*(details.metadata or ()), self._header]), request)

    intercept_unary_unary = intercept_unary_stream = intercept_stream_stream = _call


def connect(address, token=None):
    """Opens a channel to `unix:<path>` or `<host>:<port>`; the token goes with every call."""
    channel = grpc.insecure_channel(address)
    return grpc.intercept_channel(channel, _Bearer(token)) if token else channel


def list_services(channel):
    """Lists what the gateway serves; over TCP that takes its setting `reflection_on_tcp`."""
    return sorted(ProtoReflectionDescriptorDatabase(channel).get_services())


def run_turn(channel, agent, text, request_id=None, approve=None):
    """Runs a turn and yields its updates up to its outcome. The same request_id never runs it twice.

    `approve` takes an ApprovalRequest and says whether the command may run; without it nobody is asked.
    """
    stub, key = turns_grpc.TurnServiceStub(channel), request_id or str(uuid.uuid4())
    request = turns.RunTurnRequest(request_id=key, agent=agent, text=text, answers_prompts=approve is not None)
    for response in stub.RunTurn(request):
        yield response.update
        prompt = response.update.prompt_raised
        if approve and prompt.HasField("approval"):
            choice = "APPROVAL_CHOICE_ONCE" if approve(prompt.approval) else "APPROVAL_CHOICE_DENY"
            answer = turns.AnswerPromptRequest(request_id=prompt.prompt_id, prompt_id=prompt.prompt_id, choice=choice)
            stub.AnswerPrompt(answer, timeout=30)


def send_message(channel, target, body, request_id=None):
    """Sends a direct message and yields the delivery: as it was accepted, after every change, and as it ended."""
    stub = dm_grpc.DirectMessageServiceStub(channel)
    request = dm.SendDirectMessageRequest(request_id=request_id or str(uuid.uuid4()), target=target, body=body)
    delivery = stub.SendDirectMessage(request, timeout=30).delivery
    yield delivery
    for change in stub.WatchDelivery(dm.WatchDeliveryRequest(delivery_id=delivery.delivery_id)):
        yield change.delivery


def explain(error):
    """Unpacks what the gateway says in a grpc.RpcError: its code, its reason, a hint, and the fields that are wrong."""
    info, bad, status = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest(), status_pb2.Status()
    status.ParseFromString(dict(error.trailing_metadata() or ()).get("grpc-status-details-bin", b""))
    _ = [detail.Unpack(info) or detail.Unpack(bad) for detail in status.details]
    fields = {violation.field: violation.description for violation in bad.field_violations}
    return {"code": error.code().name, "reason": info.reason, "hint": info.metadata["hint"], "fields": fields}


def main(address, command, whom="", words=""):
    """Does what the command line says: list; run AGENT TEXT; send TARGET TEXT."""
    channel = connect(address, os.environ.get("TALARIA_TOKEN"))
    if command == "run":
        for update in run_turn(channel, whom, words, approve=lambda asked: input(f"{asked.command}? [y/N] ") == "y"):
            print("".join(event.delta.text for event in update.events.events), end="", flush=True)
        print("\n" + result_pb2.TurnOutcome.Name(update.turn_ended.turn.outcome))
    elif command == "send":
        for delivery in send_message(channel, whom, words):
            print(delivery_pb2.DeliveryState.Name(delivery.state), delivery.reply.text)
    else:
        print("\n".join(list_services(channel)))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except grpc.RpcError as refused:
        sys.exit("{code} {reason}: {hint} {fields}".format(**explain(refused)))
