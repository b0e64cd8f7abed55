import {
  HealthCheckResponse_ServingStatus as ServingStatus,
  HealthService,
  type HealthCheckResponse,
} from "../gen/grpc/health/v1/health.js";
import { defineServerStream, defineUnary } from "./harness/methods.js";
import { implementService, type ServiceImplementation } from "./harness/implementService.js";
import { RpcError } from "./rpcError.js";

/** What `grpc.health.v1` says of the services of one listener. */
export interface Health {
  /** Makes a service known, or changes what is said of it. The empty name stands for the listener as a whole. */
  set(service: string, serving: boolean): void;
  /** Says NOT_SERVING of everything, for good, and ends every Watch. */
  drain(): void;
  /** The service itself. */
  readonly service: ServiceImplementation;
}

/** Makes the health of a listener: serving as a whole, nothing known of single services. */
export function createHealth(): Health {
  const known = new Map<string, ServingStatus>([["", ServingStatus.SERVING]]);
  const watchers = new Set<() => void>();
  let draining = false;
  const changed = (): void => {
    for (const wake of [...watchers]) wake();
  };

  async function* watch(service: string, signal: AbortSignal): AsyncGenerator<HealthCheckResponse> {
    let said: ServingStatus | undefined;
    while (!signal.aborted) {
      const status = known.get(service) ?? ServingStatus.SERVICE_UNKNOWN;
      if (status !== said) {
        said = status;
        yield { status };
        continue;
      }
      if (draining) return;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          watchers.delete(wake);
          signal.removeEventListener("abort", wake);
          resolve();
        };
        watchers.add(wake);
        signal.addEventListener("abort", wake);
      });
    }
  }

  return {
    set(service, serving) {
      if (draining) return;
      known.set(service, serving ? ServingStatus.SERVING : ServingStatus.NOT_SERVING);
      changed();
    },
    drain() {
      draining = true;
      for (const service of known.keys()) known.set(service, ServingStatus.NOT_SERVING);
      changed();
    },
    service: implementService(HealthService, {
      check: defineUnary({
        handle: ({ service }) => {
          const status = known.get(service);
          if (status !== undefined) return Promise.resolve({ status });
          return Promise.reject(new RpcError("NOT_FOUND", { message: `There is no service "${service}" here.` }));
        },
      }),
      watch: defineServerStream({ handle: ({ service }, { signal }) => watch(service, signal) }),
    }),
  };
}
