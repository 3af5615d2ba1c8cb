import { openDevice } from '../../../../entry/index.js';
import { Engine } from '../../../core/index.js';
import { connect, listen, type MessageConnection } from '../../index.js';

/** How NICs of this machine are hosted. */
export const HOSTS = ['inline', 'thread'] as const;

/** A connection between two NICs of this process. */
export interface PairHere extends AsyncDisposable {
  readonly atServer: MessageConnection;
  readonly atClient: MessageConnection;
  readonly engine: Engine;
}

/** Connects two new devices of this machine. */
export async function connectedHere(host: (typeof HOSTS)[number]): Promise<PairHere> {
  const [server, client] = [openDevice({ host }), openDevice({ host })];
  const listener = listen({ context: server });
  const accepted = listener[Symbol.asyncIterator]().next();
  const atClient = await connect({ ...listener.address, context: client });
  const { value: atServer } = await accepted;
  if (atServer === undefined) throw new Error('the listener has ended');
  const close = async (): Promise<void> => {
    await atClient.close();
    listener.close();
    server.close();
    client.close();
  };
  return { atServer, atClient, engine: Engine.of(client), [Symbol.asyncDispose]: close };
}
