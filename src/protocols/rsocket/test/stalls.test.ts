import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StreamOptions } from '../index.js';
import { simulate } from '../../../entry/sim.js';
import { connected, pattern, type StreamPair } from './support/streams.js';

interface Stall {
  readonly ofServer?: StreamOptions;
  readonly ofClient?: StreamOptions;
  /** Bytes of each message that the client writes, until no more is taken. */
  readonly bytes: number;
  /** Whether the adapters do not reach each other any more, before the client writes. */
  readonly isCut?: boolean;
  readonly says: RegExp;
}

/** By what a stream waits for that cannot send. */
const STALLS: Readonly<Record<string, Stall>> = {
  'credit, where the peer has as many messages as it has room for': {
    ofServer: { rqSize: 16 },
    bytes: 10,
    says: /^the peer has room for no more messages until its program has read some$/,
  },
  'a buffer, where the peer has as many bytes as it has room for': {
    ofServer: { receiveBufferBytes: 4096 },
    bytes: 1000,
    says: /^the peer has named no buffer for more: its program has to read first$/,
  },
  'its send buffer, where the peer acknowledges nothing': {
    ofClient: { sendBufferBytes: 4096 },
    bytes: 1000,
    isCut: true,
    says: /^of 4096 bytes of the send buffer \d+ are under way: the peer's adapter has not acknowledged them$/,
  },
  'its send queue, where the peer acknowledges nothing': {
    ofClient: { sqSize: 20 },
    bytes: 10,
    isCut: true,
    says: /^all 16 requests for data are under way: the peer's adapter has not acknowledged them$/,
  },
};

async function fill({ atClient }: StreamPair, bytes: number, pause: () => Promise<void>): Promise<void> {
  const piece = pattern(0, bytes);
  // What was taken is acknowledged meanwhile, where anybody does.
  while (atClient.stream.write(piece) === bytes) await pause();
}

describe('a stream that cannot send says that it waits for', () => {
  for (const [what, { ofServer, ofClient, bytes, isCut = false, says }] of Object.entries(STALLS))
    it(`${what}, and nothing more once it can`, () =>
      simulate(async (sim) => {
        const pair = await connected(sim, ofServer, ofClient);
        const { atServer, atClient, server, client, listener } = pair;
        atServer.reads = false;
        // What the ends tell each other to begin with.
        await sim.sleep(100);
        assert.equal(atClient.stream.explainStall(), undefined);
        if (isCut) sim.partition(client, server);
        await fill(pair, bytes, () => sim.sleep(isCut ? 0 : 100));
        assert.match(atClient.stream.explainStall() ?? '', says);
        if (isCut) sim.heal();
        atServer.reads = true;
        atServer.readAll();
        await atClient.until('writable');
        assert.equal(atClient.stream.explainStall(), undefined);
        atClient.stream.close();
        await Promise.all([atClient.closed, atServer.closed]);
        assert.equal(atClient.stream.explainStall(), undefined);
        listener.close();
      }));
});
