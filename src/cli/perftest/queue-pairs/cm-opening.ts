import { setTimeout } from 'node:timers/promises';
import {
  type CmId,
  connect,
  type Connection,
  type ConnectionOptions,
  type Context,
  listen,
  type Listener,
  type Mr,
  VerbsError,
} from '../../../entry/index.js';
import { addressOf } from '../../kit/addresses.js';
import { cmDevices, verbsOf } from '../../rdmacm/common/hosting.js';
import { ToolError } from '../../kit/errors.js';
import { endOnInterrupt } from '../../kit/interrupt.js';
import { tellListening } from '../../kit/listening.js';
import { CmExchange, postExchangeReceive, registerExchange } from '../exchange/cm-exchange.js';
import type { PerfFlags } from '../flags.js';

const RETRIES = 7;
/** A server that has just answered may not listen again yet. */
const ATTEMPTS = 30;
const ATTEMPT_MS = 100;
/** How long a server waits for a client's next connection. */
const PATIENCE_MS = 10_000;
/** How long it waits for the client to part. */
const FAREWELL_MS = 1000;

export type CmQpOptions = Omit<ConnectionOptions, 'signal' | 'timeoutMs' | 'privateData'>;

/** Two sides that talk by rdma_cm, and may connect further queue pairs that way. */
export interface CmOpening {
  readonly exchange: CmExchange;
  readonly context: Context;
  /** Where the peer is, as an address; of a server, where it listens. */
  readonly host: string;
  readonly leads: boolean;
  /** The next connection between the two. */
  next(options: CmQpOptions): Promise<Connection>;
  /** No more connections. */
  stop(): void;
  /** Ends those that there are. The client parts from the server; if it does not, the server does after a while. */
  close(): Promise<void>;
}

/** What the connection is like over which the sides talk: no READs, no atomics. */
function lineOptions(keep: (memory: Mr) => void): ConnectionOptions {
  return {
    responderResources: 0,
    initiatorDepth: 0,
    retryCount: RETRIES,
    qp: { cap: { maxSendWr: 1, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1 } },
    prepare: (id: CmId) => {
      const memory = registerExchange(id);
      postExchangeReceive(id, memory);
      keep(memory);
    },
  };
}

/** Makes the connection over which the sides talk, and the exchange over it. */
async function openExchange(
  make: (options: ConnectionOptions) => Promise<Connection>,
  leads: boolean,
  tool: string,
): Promise<{ readonly exchange: CmExchange; readonly connection: Connection }> {
  const kept: Mr[] = [];
  const connection = await make(lineOptions((memory) => kept.push(memory)));
  return { connection, exchange: new CmExchange(connection, kept[0], leads, tool) };
}

/** Tries again while nobody listens: the other side may be a moment behind. */
export async function insist<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let left = ATTEMPTS; ; left -= 1) {
    try {
      return await attempt();
    } catch (error) {
      const refused = error instanceof VerbsError && error.errno === 'ECONNREFUSED';
      if (!refused || left === 0) throw error;
    }
    await setTimeout(ATTEMPT_MS);
  }
}

/** The connections of a test, which the peer must be told of when they end. */
class Connections {
  readonly #all: Connection[] = [];

  constructor() {
    endOnInterrupt(() => {
      for (const { id } of this.#all) id.disconnect();
    });
  }

  async add(made: Promise<Connection>): Promise<Connection> {
    const connection = await made;
    this.#all.push(connection);
    return connection;
  }

  /** @param patienceMs how long the peer has to part first */
  async close(patienceMs: number): Promise<void> {
    for (const connection of this.#all.toReversed()) {
      await Promise.race([connection.closed, setTimeout(patienceMs, undefined, { ref: false })]);
      await connection.close();
    }
  }
}

export async function openAsClient(host: string, flags: PerfFlags, tool: string): Promise<CmOpening> {
  const { contexts, ...open } = cmDevices(flags);
  const asked = contexts?.at(0);
  const address = await addressOf(host);
  const source = flags.source_ip === undefined ? {} : { localAddress: flags.source_ip };
  const where = { host: address, port: flags.port, ...source };
  const how = asked === undefined ? open : { context: asked };
  const connections = new Connections();
  const make = (options: ConnectionOptions) => connections.add(connect({ ...where, ...how, ...options }));
  const { exchange, connection } = await openExchange(make, true, tool);
  const context = verbsOf(connection.id);
  return {
    exchange,
    context,
    host: address,
    leads: true,
    next: (options) => connections.add(insist(() => connect({ ...where, context, ...options }))),
    stop: () => {},
    close: () => connections.close(0),
  };
}

async function nextOf(listener: Listener, options: ConnectionOptions): Promise<Connection> {
  const request = await listener.next();
  return request.accept(options);
}

/** @param waiting called when clients may come */
export async function openAsServer(flags: PerfFlags, tool: string, waiting: () => void): Promise<CmOpening> {
  const { contexts, ...open } = cmDevices(flags);
  const asked = contexts?.at(0);
  const at = flags.source_ip === undefined ? {} : { host: flags.source_ip };
  const listener = listen({
    port: flags.port,
    ...at,
    ...(asked === undefined ? open : { context: asked }),
  });
  tellListening(listener.address, flags.source_ip, flags);
  waiting();
  const connections = new Connections();
  const make = (options: ConnectionOptions) => connections.add(nextOf(listener, options));
  const { exchange, connection } = await openExchange(make, false, tool);
  return {
    exchange,
    context: verbsOf(connection.id),
    host: listener.address.host,
    leads: false,
    next: (options) => Promise.race([make(options), tooLate()]),
    stop: () => listener.close(),
    close: () => connections.close(FAREWELL_MS),
  };
}

async function tooLate(): Promise<never> {
  await setTimeout(PATIENCE_MS, undefined, { ref: false });
  throw new ToolError('The client made too few connections; give both sides the same -q.');
}
