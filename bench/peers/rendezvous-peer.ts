/** The process of `measure/rendezvous.ts`, which sends messages of UCP from one NIC of its own to another: `rendezvous-peer NETWORK`, then orders. */
import type { Effort } from '../measure/measurement.js';
import { alloc, openDevice } from '../../src/entry/index.js';
import { type UcpEndpoint, type UcpListener, UcpWorker } from '../../src/entry/ucp.js';

export interface RendezvousOrder {
  readonly kind: 'rendezvous';
  readonly bytes: number;
  readonly effort: Effort;
}

const TAG = 1n;

/** One end of two, and where its messages come and go. */
interface End {
  readonly worker: UcpWorker;
  readonly endpoint: UcpEndpoint;
}

const [network] = process.argv.slice(2);
const devices = [1, 2].map((host) => openDevice({ address: `${network}.${host}` }));

async function connected(threshold: string): Promise<readonly [End, End]> {
  const [here, there] = devices.map((device) => new UcpWorker(device, { config: { RNDV_THRESH: threshold } }));
  let address: UcpListener['address'] | undefined;
  const accepted = new Promise<UcpEndpoint>((resolve) => ({ address } = there.listen({}, resolve)));
  if (address === undefined) throw new Error('it listens nowhere');
  return [
    { worker: here, endpoint: await here.connect(address) },
    { worker: there, endpoint: await accepted },
  ];
}

/** µs of processor time that were used since then. */
function usedUs(since?: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return user + system;
}

/** µs of processor time for a message one way, again and again until so many ms of it are used. */
async function stretch([here, there]: readonly [End, End], message: Uint8Array, ms: number): Promise<number> {
  const begun = process.cpuUsage();
  let used = 0;
  let messages = 0;
  while (used < ms * 1000) {
    for (const [from, to] of [
      [here, there],
      [there, here],
    ] as const) {
      const received = to.worker.tagReceive(message, TAG);
      await from.endpoint.tagSend(message, TAG);
      await received;
      messages += 1;
    }
    used = usedUs(begun);
  }
  return used / messages;
}

/** In turn, so that both find the machine as busy. @returns samples of each */
async function both({ bytes, effort: { stretches, stretchMs, warmUpMs } }: RendezvousOrder): Promise<number[][]> {
  const ways = [await connected('inf'), await connected('0')];
  const message = alloc(bytes);
  const samples: number[][] = ways.map(() => []);
  for (const way of ways) await stretch(way, message, warmUpMs / ways.length);
  for (let i = 0; i < stretches; i += 1)
    for (const [j, way] of ways.entries()) samples[j].push(await stretch(way, message, stretchMs));
  for (const { worker } of ways.flat()) worker.close();
  return samples;
}

// `measure/rendezvous.ts` sends nothing else.
process.on('message', (order: RendezvousOrder) => void both(order).then((rows) => process.send?.({ rows })));
