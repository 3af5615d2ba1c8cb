import type { CmId, Connection } from '../../../api/rdmacm/index.js';
import { Engine } from '../progress/engine.js';

/**
 * Makes one end of a connection, and connects it. When that fails, nothing is left of either.
 *
 * @param make makes the queue pair of an identifier and what depends on it; leaves nothing behind when it throws
 * @param connect connects, or accepts, with that `createQp`
 * @param begin starts the end on the connection; throws when the peer is not one to talk to
 * @throws (the promise rejects) what the steps throw
 */
export async function establish<E extends { destroyed(): void }, T>(
  make: (id: CmId) => E,
  connect: (createQp: (id: CmId) => void) => Promise<Connection>,
  begin: (end: E, connection: Connection) => T,
): Promise<T> {
  const made: { end: E | undefined } = { end: undefined };
  const drop = (): void => {
    made.end?.destroyed();
    made.end = undefined;
  };
  const createQp = (id: CmId): void => {
    // A name may have several addresses, and the one before led nowhere.
    drop();
    made.end = make(id);
  };
  let connection: Connection | undefined;
  try {
    connection = await connect(createQp);
    if (made.end === undefined) throw new Error('verbena: internal error: a connection without a queue pair');
    return begin(made.end, connection);
  } catch (error) {
    connection?.[Symbol.dispose]();
    drop();
    throw error;
  }
}

export function engineOf({ verbs }: CmId): Engine {
  if (verbs === undefined) throw new Error('verbena: internal error: an identifier without a device');
  return Engine.of(verbs);
}
