import type { Context } from '../../../entry/index.js';
import { type UcpEndpoint, type UcpEndpointAttributes, UcpWorker } from '../../../entry/ucp.js';

export const TRANSPORTS = ['rc', 'ud', 'self'] as const;
export type TransportName = (typeof TRANSPORTS)[number];

/** A worker with an endpoint by a transport; between processes it leads to the worker itself as well, by the device. */
export interface Pair extends Disposable {
  readonly worker: UcpWorker;
  readonly endpoint: UcpEndpoint;
}

/** What leads nowhere has nothing to tell: what a transport does, the two ends agree on. */
export async function pairBy(context: Context, transport: TransportName): Promise<Pair> {
  const worker = new UcpWorker(context, { transport: transport === 'self' ? 'rc' : transport });
  const endpoint = transport === 'self' ? worker.connectToSelf() : await toItself(worker);
  return { worker, endpoint, [Symbol.dispose]: () => worker.close() };
}

export async function toItself(worker: UcpWorker): Promise<UcpEndpoint> {
  using listener = worker.listen({}, () => undefined);
  return await worker.connect(listener.address);
}

/** A transport, and what a key of a worker's memory takes. */
export interface TransportFacts extends Pick<UcpEndpointAttributes, 'capabilities' | 'tagProtocols'> {
  readonly transport: TransportName;
  readonly device: string;
  readonly rkeyBytes: number;
  readonly maxAmHeader: number;
}

export async function transportFacts(context: Context, transport: TransportName): Promise<TransportFacts> {
  using pair = await pairBy(context, transport);
  const { worker, endpoint } = pair;
  const { capabilities, tagProtocols } = endpoint.query();
  const device = transport === 'self' ? 'memory' : context.device.name;
  const rkeyBytes = worker.memMap(1).packRkey().length;
  return { transport, device, capabilities, tagProtocols, rkeyBytes, maxAmHeader: endpoint.maxAmHeader };
}
