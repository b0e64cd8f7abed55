// Waits for a line on stdin, then calls health and status on the address given and says what came back.
import { once } from "node:events";

import { HealthService } from "../../src/gen/grpc/health/v1/health.js";
import { AdminServiceService } from "../../src/gen/talaria/gateway/v1/admin_service.js";
import { createClient } from "../../src/rpc/clients/connectClient.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { RpcError } from "../../src/rpc/rpcError.js";

const outcome = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "ok",
    (error: unknown) => (error instanceof RpcError ? error.reason : String(error)),
  );

await once(process.stdin, "data");
const client = createClient({ address: process.argv[2] ?? "", purpose: "unix" });
console.log(`health ${await outcome(unaryCall(client, HealthService.check, { service: "" }))}`);
console.log(`status ${await outcome(unaryCall(client, AdminServiceService.getStatus, {}))}`);
client.close();
