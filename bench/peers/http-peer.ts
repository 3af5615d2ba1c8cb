/** One of the two processes of `measure/http.ts`: `http-peer tcp|rdma ADDRESS [HOST PORT]`, then orders. With a peer it is the client. */
import { once } from 'node:events';
import { Agent as TcpAgent, createServer, get, type IncomingMessage } from 'node:http';
import { Agent, attach } from '../../src/entry/net.js';
import type { Effort } from '../measure/measurement.js';

/** What a peer can be told to do. */
export type HttpOrder =
  | { readonly kind: 'hello' }
  | { readonly kind: 'ask'; readonly connections: number; readonly effort: Effort };

const BODY = 'x'.repeat(64);
const [transport, address, host, port] = process.argv.slice(2);

/** Answers to so many requests at a time, the next of which follows each answer. @returns how many came each second of a stretch */
async function ask(connections: number, { stretches, stretchMs, warmUpMs }: Effort): Promise<readonly number[]> {
  const options = { keepAlive: true, maxSockets: connections };
  const agent = transport === 'tcp' ? new TcpAgent(options) : new Agent({ ...options, localAddress: address });
  const samples: number[] = [];
  let answers = 0;
  const one = async (): Promise<void> => {
    const request = get({ host, port: Number(port), agent });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    answers += 1;
  };
  let begun = performance.now();
  let isWarm = false;
  const next = (): boolean => {
    const now = performance.now();
    const forMs = now - begun;
    if (forMs < (isWarm ? stretchMs : warmUpMs)) return true;
    if (isWarm) samples.push((1000 * answers) / forMs);
    isWarm = true;
    begun = now;
    answers = 0;
    return samples.length < stretches;
  };
  const goOn = async (): Promise<void> => {
    while (samples.length < stretches && next()) await one();
  };
  await Promise.all(Array.from({ length: connections }, goOn));
  agent.destroy();
  return samples;
}

function onOrder(take: (order: HttpOrder) => Promise<object>): void {
  // `measure/http.ts` sends nothing else.
  process.on('message', (order: HttpOrder) => void take(order).then((answer) => process.send?.(answer)));
}

if (process.argv.length === 4) {
  const server = createServer((_request, response) => response.end(BODY));
  const listening = transport === 'tcp' ? server : attach(server);
  listening.listen(0, address, () => {
    const at = listening.address();
    const info = typeof at === 'object' ? at?.port : undefined;
    onOrder(() => Promise.resolve({ info }));
  });
} else onOrder(async (order) => (order.kind === 'ask' ? { samples: await ask(order.connections, order.effort) } : {}));
