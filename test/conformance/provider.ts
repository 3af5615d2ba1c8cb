/** Whatever implements the public API and is to behave as verbs say: the suite runs once for each of these. */
import { describe } from 'node:test';
import { threadId } from 'node:worker_threads';
import { SimulatedCluster } from '../../src/sim/cluster/simulated-cluster.js';
import { type Context, type HostKind, openDevice, VerbsError } from '../../src/entry/index.js';

export interface Provider {
  /** How test names begin; also how a worker thread names it. */
  readonly name: string;
  /** Whether it runs in virtual time, alone in its thread: no clock of the machine, no other threads, no real addresses. */
  readonly isVirtual: boolean;
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

const cluster = new SimulatedCluster({ seed: 1 });
let simulatedDevices = 0;

function openSimulated(): Context {
  simulatedDevices += 1;
  return cluster.open(`10.${simulatedDevices >> 16}.${(simulatedDevices >> 8) & 0xff}.${simulatedDevices & 0xff}`);
}

/** All providers there are. One more is one more line here. */
const ALL: readonly Provider[] = [
  { name: 'simulated', isVirtual: true, open: openSimulated },
  { name: 'inline', isVirtual: false, open: () => openSomewhere('inline') },
  { name: 'thread', isVirtual: false, open: () => openSomewhere('thread') },
];

/** Without VERBENA_TEST_PROVIDERS the suite runs in virtual time alone; that names others, separated by commas. */
const wanted = process.env['VERBENA_TEST_PROVIDERS']?.split(',');

export const providers: readonly Provider[] = ALL.filter(({ name, isVirtual }) => wanted?.includes(name) ?? isVirtual);

/** The providers that have threads, the machine's clock and real addresses. */
export const MACHINE_PROVIDERS: readonly string[] = ALL.filter(({ isVirtual }) => !isVirtual).map(({ name }) => name);

/** For `conformance`: the tests need threads, the machine's clock or real addresses. */
export const ON_A_MACHINE = { onMachine: true };

/** The provider of that name; for worker threads, which are told it. */
export function providerNamed(name: string): Provider {
  const provider = ALL.find((candidate) => candidate.name === name);
  if (provider === undefined) throw new Error(`there is no provider '${name}'`);
  return provider;
}

/** Tests that every provider must pass; their full names are `<provider> › <title> › <test>`. */
export function conformance(
  title: string,
  body: (provider: Provider) => void,
  { onMachine = false }: { readonly onMachine?: boolean } = {},
): void {
  for (const provider of providers) {
    if (onMachine && provider.isVirtual) continue;
    describe(provider.name, () => {
      describe(title, () => {
        body(provider);
      });
    });
  }
}
