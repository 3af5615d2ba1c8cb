/** Whatever implements the public API and is to behave as verbs say: the suite runs once for each of these. */
import { describe } from 'node:test';
import { threadId } from 'node:worker_threads';
import { type Context, type HostKind, openDevice, VerbsError } from '../../src/index.js';

/** A way to a device. */
export interface Provider {
  /** How test names begin; also how a worker thread names it. */
  readonly name: string;
  /** Opens a device on an address that nobody else has; whoever opens it closes it. */
  open(): Context;
}

/** Every program may run beside others: each begins elsewhere in 127.96.0.0/11, and a place that is taken is skipped. */
const FIRST_NET = 96;
const NETS = 32;
const HOSTS = 254;
const PLACES = NETS * 256 * HOSTS;
/** Programs that were started one after the other have their places apart; so have the threads of a program. */
const PLACES_PER_PROCESS = 1009;
const PLACES_PER_THREAD = 61;
const ATTEMPTS = 1000;

let place = (process.pid * PLACES_PER_PROCESS + threadId * PLACES_PER_THREAD) % PLACES;

function nextAddress(): string {
  place = (place + 1) % PLACES;
  const net = Math.floor(place / HOSTS);
  return `127.${FIRST_NET + (net >> 8)}.${net & 0xff}.${1 + (place % HOSTS)}`;
}

function openSomewhere(host: HostKind): Context {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return openDevice({ host, address: nextAddress() });
    } catch (error) {
      const taken = error instanceof VerbsError && error.errno === 'EADDRINUSE';
      if (!taken || attempt === ATTEMPTS) throw error;
    }
  }
}

/** All providers there are. One more is one more line here. */
export const providers: readonly Provider[] = [
  { name: 'inline', open: () => openSomewhere('inline') },
  { name: 'thread', open: () => openSomewhere('thread') },
];

/** The provider of that name; for worker threads, which are told it. */
export function providerNamed(name: string): Provider {
  const provider = providers.find((candidate) => candidate.name === name);
  if (provider === undefined) throw new Error(`there is no provider '${name}'`);
  return provider;
}

/** Tests that every provider must pass; their full names are `<provider> › <title> › <test>`. */
export function conformance(title: string, body: (provider: Provider) => void): void {
  for (const provider of providers) {
    describe(provider.name, () => {
      describe(title, () => {
        body(provider);
      });
    });
  }
}
