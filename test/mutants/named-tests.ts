import { register } from 'node:module';

/**
 * Tests that are played as a game is, one for each seed: of rules that take a scene of their own, which chance hardly ever
 * plays. They find no runner here; whatever stands in place of `node:test` hands them over.
 */

/** Files below `test`. */
export const FILES: readonly string[] = [
  'runtime/callbacks',
  'sim-api/held-time',
  'nic/raw-packet',
  'nic/xrc-domains',
  'nic/failed-completion',
  'nic/full-ways',
  'nic/completion-counters',
  'nic/foreign-memory',
  'nic/invariants',
  'nic/last-acknowledgement',
  'nic/peer-gone',
  'links/local-full',
  'soft/simulated-failures',
  'clients/sharing',
  'clients/foreign-objects',
  'clients/closing',
  'layers/engine/progress',
  'layers/engine/credits',
  'layers/engine/buffer-pool',
  'layers/engine/registrations',
  'layers/engine/faults',
  'layers/messages/farewell',
  'layers/messages/servers',
  'layers/messages/gone-memory',
  'layers/messages/keep-alive',
  'layers/rsocket/silence',
  'layers/rsocket/calls/datagrams',
  'layers/rsocket/calls/lying-datagrams',
];

/** Those of the key-value store. */
export const KV_FILES: readonly string[] = [
  'layers/kv/protocol',
  'layers/kv/clients',
  'layers/kv/unreliable',
  'layers/kv/forgery',
  'layers/kv/lies',
  'layers/kv/questions',
  'layers/kv/transfers',
  'layers/kv/values',
  'layers/kv/store/partition',
  'layers/kv/store/entry',
  'layers/kv/store/full',
  'layers/kv/store/hash',
  'layers/kv/store/model',
  'layers/kv/durability',
  'layers/kv/one-sided/lookup',
  'layers/kv/one-sided/reads',
  'layers/kv/one-sided/door',
  'layers/kv/persistence/folder',
  'layers/kv/persistence/crashes',
  'layers/kv/gateway/session',
  'layers/kv/waiting-line',
];

/** Those of UCP. */
export const UCP_FILES: readonly string[] = [
  'layers/ucp/uct/ud/protocol',
  'layers/ucp/uct/ud/hostile',
  'layers/ucp/uct/ud/ud',
  'layers/ucp/tag-sync',
  'layers/ucp/tag-probe',
  'layers/ucp/tag-lies',
  'layers/ucp/datatype',
  'layers/ucp/am/datatype',
  'layers/ucp/am/early',
  'layers/ucp/stream/datatype',
  'layers/ucp/taking-back',
  'layers/ucp/rma/hostile',
  'layers/ucp/rma/rma',
  'layers/ucp/stream/stream',
  'layers/ucp/am/am',
  'layers/ucp/turns',
  'layers/ucp/rendezvous',
  'layers/ucp/wireup/neighbours',
  'layers/ucp/wireup/by-address',
  'layers/ucp/wireup/hostile',
  'layers/ucp/closing',
  'layers/ucp/memory-taken-away',
  'layers/ucp/uct/little-room',
];

/** Those of links of xio, and of sessions over them. */
export const XIO_FILES: readonly string[] = [
  'layers/xio/transport/tcp/hostile',
  'layers/xio/transport/conformance',
  'layers/xio/sessions/calls',
  'layers/xio/sessions/gone-memory',
  'layers/xio/sessions/surviving',
  'layers/xio/sessions/direct',
  'layers/xio/sessions/pieces',
  'layers/xio/transport/pieces',
  'layers/xio/sessions/moves',
  'layers/xio/sessions/rejections',
  'layers/xio/session/say-once',
  'layers/xio/protocol/moving',
  'layers/xio/sessions/unanswered',
  'layers/xio/sessions/hostile-servers',
  'runtime/aborts',
];

export interface NamedTest {
  readonly name: string;
  readonly play: () => unknown;
}

/** All tests of those files that are not skipped here, in their order. */
export async function loadNamedTests(files: readonly string[]): Promise<readonly NamedTest[]> {
  register('./collecting-hooks.js', import.meta.url);
  const { collected } = await import('./collector.js');
  const before = collected.length;
  for (const file of files) await import(new URL(`../${file}.test.js`, import.meta.url).href);
  return collected.slice(before);
}

/** Plays one. What it throws says which it was. */
export async function playNamedTest({ name, play }: NamedTest): Promise<void> {
  try {
    await play();
  } catch (error) {
    if (error instanceof Error) error.message = `${name}: ${error.message}`;
    throw error;
  }
}
