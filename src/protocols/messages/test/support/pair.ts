import type { Sim, SimHost } from '../../../../entry/sim.js';
import { connect, type ExchangeOptions, listen, type MessageConnection, type MessageListener } from '../../index.js';

export const PORT = 7174;

/** Two hosts with a connection of messages from the second one to the first. */
export interface Pair {
  readonly server: SimHost;
  readonly client: SimHost;
  readonly listener: MessageListener;
  readonly atServer: MessageConnection;
  readonly atClient: MessageConnection;
}

/** Connects two new hosts. */
export async function connected(
  sim: Sim,
  ofServer: ExchangeOptions = {},
  ofClient: ExchangeOptions = {},
): Promise<Pair> {
  const [server, client] = [sim.host('server'), sim.host('client')];
  const listener = listen({ ...ofServer, port: PORT, context: server.context });
  const accepted = listener[Symbol.asyncIterator]().next();
  const atClient = await client.run(() => connect({ ...ofClient, host: 'server', port: PORT }));
  const { value: atServer } = await accepted;
  if (atServer === undefined) throw new Error('the listener has ended');
  return { server, client, listener, atServer, atClient };
}

export const text = (words: string): Uint8Array => new TextEncoder().encode(words);
export const words = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);

/** Bytes that differ from those of another number at every place. */
export function pattern(length: number, number = 0): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i * 7 + number * 13) & 0xff);
}
