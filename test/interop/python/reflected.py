"""Talks to a gateway without any generated code: every type comes from server reflection. Prints one JSON document.

Arguments: the address, the token (empty for none) and a prefix for request ids.
"""

import json
import sys

import grpc
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

address, token, prefix = sys.argv[1:]


class Bearer(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor, grpc.StreamStreamClientInterceptor):
    """Sends the token with every call."""

    def intercept(self, proceed, details, request):
        """Adds the header."""
        return proceed(details._replace(metadata=[("authorization", f"Bearer {token}")]), request)

    intercept_unary_unary = intercept_unary_stream = intercept_stream_stream = intercept


channel = grpc.insecure_channel(address)
if token:
    channel = grpc.intercept_channel(channel, Bearer())
database = ProtoReflectionDescriptorDatabase(channel)
pool = DescriptorPool(database)


def call(service, name, request):
    """Calls a method with a request written as JSON; a stream's answers come as a list."""
    method = pool.FindServiceByName(service).FindMethodByName(name)
    asked, answer = GetMessageClass(method.input_type), GetMessageClass(method.output_type)
    kind = channel.unary_stream if method.server_streaming else channel.unary_unary
    invoke = kind(f"/{service}/{name}", asked.SerializeToString, answer.FromString)
    answered = invoke(ParseDict(request, asked()), timeout=20)
    return [MessageToDict(one) for one in answered] if method.server_streaming else MessageToDict(answered)


def refusal(service, name, request):
    """The details of a refused call, their types resolved through reflection as well."""
    try:
        call(service, name, request)
    except grpc.RpcError as error:
        status = GetMessageClass(pool.FindMessageTypeByName("google.rpc.Status"))()
        status.ParseFromString(dict(error.trailing_metadata())["grpc-status-details-bin"])
        return MessageToDict(status, descriptor_pool=pool)
    raise SystemExit("the call was not refused")


turns, messages = "talaria.gateway.v1.TurnService", "talaria.dm.v1.DirectMessageService"
deliver = pool.FindServiceByName("talaria.dm.v1.PeerService").FindMethodByName("DeliverDM")
message = {"requestId": f"{prefix}-dm", "target": "main", "body": "Ping by reflection"}
sent = call(messages, "SendDirectMessage", message)
watch = {"deliveryId": sent["delivery"]["deliveryId"]}
seen = {
    "services": sorted(database.get_services()),
    "deliverDm": [deliver.input_type.full_name, sorted(field.name for field in deliver.input_type.fields)],
    "turn": call(turns, "RunTurn", {"requestId": f"{prefix}-turn", "agent": "main", "text": "Hello by reflection"}),
    "message": call(messages, "WatchDelivery", watch)[-1],
    "unknownAgent": refusal(turns, "RunTurn", {"requestId": f"{prefix}-no", "agent": "nobody", "text": "Hello"}),
}
print(json.dumps(seen))
