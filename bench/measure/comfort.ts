/** What programs pay for the ways by which they await messages, between two processes of this machine. */
import type { MessengerOrder } from '../peers/messenger-peer.js';
import type { MessengerName } from '../peers/messengers/index.js';
import type { EchoTask, Effort, Measurement } from './measurement.js';
import { Peer } from './peer.js';
import type { Way } from './rdma.js';

const NETWORK = `127.96.${process.pid % 256}`;

async function withPair<T>(
  name: MessengerName,
  { host, link }: Way,
  measure: (client: Peer, server: Peer) => Promise<T>,
): Promise<T> {
  const env = { VERBENA_HOST: host, VERBENA_LINK: link };
  await using server = new Peer('messenger-peer', [name, `${NETWORK}.1`], env);
  const { info } = await server.order({ kind: 'hello' } satisfies MessengerOrder);
  await using client = new Peer('messenger-peer', [name, `${NETWORK}.2`, `${NETWORK}.1`, String(info)], env);
  return await measure(client, server);
}

/** µs of a round trip. */
export function messengerEcho(name: MessengerName, way: Way, task: EchoTask): Promise<Measurement> {
  return withPair(name, way, (client) => client.measurement({ kind: 'ping', ...task } satisfies MessengerOrder));
}

/** 10^6 messages a second, of which `window` are under way. */
export function messengerRate(
  name: MessengerName,
  way: Way,
  bytes: number,
  window: number,
  effort: Effort,
): Promise<Measurement> {
  return withPair(name, way, (client) =>
    client.measurement({ kind: 'pour', bytes, window, effort } satisfies MessengerOrder),
  );
}

/** µs that one of many connections takes to make, and KiB that it takes at both ends together. */
export function messengerCrowd(
  name: MessengerName,
  way: Way,
  connections: number,
): Promise<{ readonly time: Measurement; readonly memory: Measurement }> {
  return withPair(name, way, async (client, server) => {
    const order = { kind: 'crowd', connections, atATime: 64 } satisfies MessengerOrder;
    const [us, clientKib] = await client.samples(order);
    const [serverKib] = await server.samples(order);
    return { time: { samples: [us] }, memory: { samples: [clientKib + serverKib] } };
  });
}
