import { isIP } from 'node:net';
import type { StreamSocket } from '../rsocket/index.js';
import { codeOf, coded, systemError } from './errors.js';
import { localServers } from './local-servers.js';
import { lookUp } from './lookup.js';
import type { Destination } from './socket-options.js';
import type { Transport } from './transport.js';

/** Told of every address that a name was found to have, or that it has none: what 'lookup' says. */
type OnLookup = (error: Error | null, address: string | undefined, family: 4 | 6 | undefined, host: string) => unknown;

async function addressesOf(
  transport: Transport,
  destination: Destination,
  onLookup: OnLookup,
): Promise<readonly string[]> {
  const { host, port, family, hints, lookup, target } = destination;
  if (isIP(host) !== 0) return [host];
  try {
    const found = await find();
    for (const address of found) onLookup(null, address, isIP(address) === 6 ? 6 : 4, host);
    return found;
  } catch (error) {
    const failure = error instanceof Error ? error : new Error(String(error));
    onLookup(failure, undefined, undefined, host);
    throw failure;
  }

  async function find(): Promise<readonly string[]> {
    if (lookup !== undefined) {
      const answer = await lookUp(lookup, host, { family: family ?? 0, hints, all: false });
      return answer.map(({ address }) => address);
    }
    const here =
      host === 'localhost' && target.context === undefined ? localServers.addressFor(port, family) : undefined;
    return here === undefined ? transport.resolve(host, family, target.context) : [here];
  }
}

/** Whether another address of the same name may lead to somebody. */
const NOBODY_THERE: readonly unknown[] = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ENODEV',
  'ETIMEDOUT',
];

/** Connects to the first address of a name where somebody listens. @throws Error in Node's shape */
export async function connectTo(
  transport: Transport,
  destination: Destination,
  signal: AbortSignal,
  onLookup: OnLookup,
): Promise<StreamSocket> {
  const { port, target } = destination;
  let failure: Error | undefined;
  for (const host of await addressesOf(transport, destination, onLookup)) {
    signal.throwIfAborted();
    try {
      return await transport.connect({ ...target, host, port, signal });
    } catch (error) {
      failure ??= systemError('connect', error, { address: host, port });
      if (signal.aborted || !NOBODY_THERE.includes(codeOf(error))) break;
    }
  }
  throw failure ?? coded(new Error(`${destination.host} has no address`), 'ENOTFOUND');
}
