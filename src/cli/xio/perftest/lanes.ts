import type { Context } from '../../../entry/index.js';
import { connect, type XioConnectOptions, XioError, type XioSession } from '../../../entry/xio.js';
import { ToolError } from '../../kit/errors.js';
import { isHere, openFirst, spinningHosts } from '../../kit/spinning.js';
import { streamDevice } from '../../kit/options.js';
import { deviceToward } from './device.js';
import type { Request, XioPerfFlags } from './flags.js';
import { type Counted, type LoadSetup, type Round, XioLoad } from './load.js';
import { QUEUES } from './server.js';
import { Thread } from './threads.js';

/** Sessions that do the same at the same time. */
export interface Lanes {
  run(round: Round): Promise<readonly Counted[]>;
  /** Ends the round that is under way: {@link run} gives what there is. */
  stop(): void;
  close(): Promise<void>;
}

export function urlOf({ r: scheme, p: port }: XioPerfFlags, host: string): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** How a session is made, and from where. */
type How = Pick<XioConnectOptions, 'context' | 'open' | 'localAddress'>;

/** @throws ToolError (the promise rejects) which says where nobody was */
async function sessionTo(url: string, how: How): Promise<XioSession> {
  try {
    return await connect({ url, ...QUEUES, ...how });
  } catch (error) {
    if (!(error instanceof XioError)) throw error;
    const hint = error.code === 'XIO_E_SESSION_REFUSED' ? '; `verbena xio_perftest` is the server' : '';
    throw new ToolError(`no server at ${url}${hint}: ${error.message}`, 1, { cause: error });
  }
}

export async function ownLane(url: string, setup: LoadSetup, how: How): Promise<Lanes> {
  const session = await sessionTo(url, how);
  const load = new XioLoad(session, setup);
  return {
    run: async (round) => [await load.run(round)],
    stop: () => load.stop(),
    close: () => session.close(),
  };
}

async function threadLanes(url: string, setup: LoadSetup, count: number, context: Context | undefined): Promise<Lanes> {
  const threads = Array.from({ length: count }, () => {
    const task = { kind: 'load', url, setup } as const;
    return new Thread(context === undefined ? task : { ...task, device: context.share() });
  });
  await Promise.all(threads.map((thread) => thread.ready()));
  return {
    run: (round) => Promise.all(threads.map((thread) => thread.run(round))),
    stop: () => {
      for (const thread of threads) thread.stop();
    },
    close: async () => {
      await Promise.all(threads.map((thread) => thread.close()));
      context?.close();
    },
  };
}

/** As many as the command line asks for. */
export async function lanesTo(host: string, { test, sizes, depth }: Request, flags: XioPerfFlags): Promise<Lanes> {
  const url = urlOf(flags, host);
  const { direction, isDirect } = test;
  const setup: LoadSetup = { direction, isDirect, depth, maxBytes: Math.max(...sizes) };
  if (flags.n > 1)
    return threadLanes(url, setup, flags.n, flags.r === 'rdma' ? await deviceToward(host, flags) : undefined);
  if (flags.r === 'tcp') return ownLane(url, setup, flags.addr === undefined ? {} : { localAddress: flags.addr });
  return openFirst(spinningHosts(flags, isHere(host)), (options) => ownLane(url, setup, streamDevice(options)));
}
