import type { Sim, SimHost } from '../../../../entry/sim.js';
import { Engine } from '../../../core/index.js';
import type { UcpEndpoint } from '../../worker/endpoint.js';
import { UcpWorker } from '../../worker/worker.js';
import type { UcpWorkerOptions } from '../../worker/worker-options.js';

/** A worker on a host of its own, which finds others by their addresses. */
export interface Member {
  readonly host: SimHost;
  readonly worker: UcpWorker;
  readonly ask: (other: Member, options?: Parameters<UcpWorker['connectByAddress']>[1]) => Promise<UcpEndpoint>;
}

export interface Members {
  readonly all: readonly Member[];
  /** Ends them. @returns what was left behind */
  readonly close: () => Promise<unknown[]>;
}

/** So many workers, none of which has an endpoint. */
export function members(sim: Sim, count: number, options?: UcpWorkerOptions): Members {
  const all = Array.from({ length: count }, (_, i): Member => {
    const host = sim.host(`member ${i}`);
    const worker = new UcpWorker(host.context, options);
    return {
      host,
      worker,
      ask: (other, wait) => host.run(() => worker.connectByAddress(other.worker.address, wait)),
    };
  });
  const close = async (): Promise<unknown[]> => {
    for (const { worker } of all) worker.close();
    // Endpoints of datagrams say farewell.
    await sim.sleep(5_000_000);
    return all.flatMap(({ host, worker }) => {
      const engine = Engine.of(host.context);
      const left = [...engine.pool.leases(), ...engine.statistics.outstanding];
      engine.close();
      return worker.query().endpoints === 0 ? left : [...left, `${worker.query().endpoints} endpoints`];
    });
  };
  return { all, close };
}

/** Sends some bytes by the stream of one endpoint, and receives as many by that of another. */
export async function streamed(from: UcpEndpoint, to: UcpEndpoint, bytes: Uint8Array): Promise<Uint8Array> {
  const buffer = new Uint8Array(bytes.length);
  const receiving = to.streamReceive(buffer, { waitAll: true, timeoutMs: 5000 });
  await from.streamSend(bytes);
  await receiving;
  return buffer;
}
