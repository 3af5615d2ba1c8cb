import { register } from 'node:module';

/**
 * Tests that are played as a game is, one for each seed: of rules that take a scene of their own, which chance hardly ever
 * plays. They find no runner here; whatever stands in place of `node:test` hands them over.
 */

export const FILES: readonly string[] = [
  'src/api/runtime/test/callbacks',
  'src/sim/test/held-time',
  'src/device/nic/test/raw-packet',
  'src/device/nic/test/xrc-domains',
  'src/device/nic/test/failed-completion',
  'src/device/nic/test/full-ways',
  'src/device/nic/test/completion-counters',
  'src/device/nic/test/foreign-memory',
  'src/device/nic/test/invariants',
  'src/device/nic/test/late-refusals',
  'src/device/nic/test/last-acknowledgement',
  'src/device/nic/test/peer-gone',
  'src/node/links/test/local-full',
  'src/providers/soft/test/simulated-failures',
  'src/node/hosting/test/clients/sharing',
  'src/node/hosting/test/clients/foreign-objects',
  'src/node/hosting/test/clients/closing',
  'src/protocols/core/test/progress',
  'src/protocols/core/test/credits',
  'src/protocols/core/test/buffer-pool',
  'src/protocols/core/test/registrations',
  'src/protocols/core/test/faults',
  'src/protocols/core/test/rc-endpoint',
  'src/protocols/messages/test/farewell',
  'src/protocols/messages/test/servers',
  'src/protocols/messages/test/gone-memory',
  'src/protocols/messages/test/keep-alive',
  'src/protocols/messages/test/no-buffers',
  'src/protocols/rsocket/test/silence',
  'src/protocols/rsocket/test/calls/datagrams',
  'src/protocols/rsocket/test/calls/lying-datagrams',
];

export const KV_FILES: readonly string[] = [
  'src/protocols/kv/test/protocol',
  'src/protocols/kv/test/clients',
  'src/protocols/kv/test/unreliable',
  'src/protocols/kv/test/forgery',
  'src/protocols/kv/test/lies',
  'src/protocols/kv/test/questions',
  'src/protocols/kv/test/transfers',
  'src/protocols/kv/test/values',
  'src/protocols/kv/test/store/partition',
  'src/protocols/kv/test/store/entry',
  'src/protocols/kv/test/store/full',
  'src/protocols/kv/test/store/hash',
  'src/protocols/kv/test/store/model',
  'src/protocols/kv/test/durability',
  'src/protocols/kv/test/one-sided/lookup',
  'src/protocols/kv/test/one-sided/reads',
  'src/protocols/kv/test/one-sided/door',
  'src/protocols/kv/test/persistence/folder',
  'src/protocols/kv/test/persistence/crashes',
  'src/protocols/kv/test/gateway/session',
  'src/protocols/kv/test/waiting-line',
];

export const UCP_FILES: readonly string[] = [
  'src/protocols/ucp/test/uct/ud/protocol',
  'src/protocols/ucp/test/uct/ud/hostile',
  'src/protocols/ucp/test/uct/ud/ud',
  'src/protocols/ucp/test/tag-sync',
  'src/protocols/ucp/test/tag-probe',
  'src/protocols/ucp/test/tag-lies',
  'src/protocols/ucp/test/datatype',
  'src/protocols/ucp/test/am/datatype',
  'src/protocols/ucp/test/am/early',
  'src/protocols/ucp/test/stream/datatype',
  'src/protocols/ucp/test/taking-back',
  'src/protocols/ucp/test/rma/hostile',
  'src/protocols/ucp/test/rma/rma',
  'src/protocols/ucp/test/stream/stream',
  'src/protocols/ucp/test/am/am',
  'src/protocols/ucp/test/turns',
  'src/protocols/ucp/test/rendezvous',
  'src/protocols/ucp/test/wireup/neighbours',
  'src/protocols/ucp/test/wireup/by-address',
  'src/protocols/ucp/test/wireup/hostile',
  'src/protocols/ucp/test/closing',
  'src/protocols/ucp/test/memory-taken-away',
  'src/protocols/ucp/test/uct/little-room',
];

export const XIO_FILES: readonly string[] = [
  'src/protocols/xio/test/transport/tcp/hostile',
  'src/protocols/xio/test/transport/conformance',
  'src/protocols/xio/test/sessions/calls',
  'src/protocols/xio/test/sessions/gone-memory',
  'src/protocols/xio/test/sessions/surviving',
  'src/protocols/xio/test/sessions/direct',
  'src/protocols/xio/test/sessions/pieces',
  'src/protocols/xio/test/transport/pieces',
  'src/protocols/xio/test/sessions/moves',
  'src/protocols/xio/test/sessions/rejections',
  'src/protocols/xio/test/session/say-once',
  'src/protocols/xio/test/protocol/moving',
  'src/protocols/xio/test/sessions/unanswered',
  'src/protocols/xio/test/sessions/hostile-servers',
  'src/api/runtime/test/aborts',
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
  for (const file of files) await import(new URL(`../../${file}.test.js`, import.meta.url).href);
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
