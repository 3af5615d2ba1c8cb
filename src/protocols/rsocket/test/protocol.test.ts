import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Ending, MAX_CHUNK, PHASES, type Phase, type Sizes, StreamProtocol } from '../protocol/index.js';
import type { ConnectionData, Span } from '../wire/connection-data.js';
import { immediateOf, type IomapEntry, Operation } from '../wire/message.js';
import { patternAt } from './support/streams.js';

const SIZES: Sizes = {
  sqSize: 20,
  rqSize: 16,
  inlineBytes: 64,
  sendBufferBytes: 8192,
  receiveBufferBytes: 8192,
  iomapSize: 0,
};

interface Sent {
  readonly immediate: number;
  readonly byteLength: number;
  /** What is written where. */
  readonly write: (peer: End) => void;
  readonly completed: () => void;
}

/** One end on a lossless pipe, with a program that writes and reads the pattern. */
class End {
  readonly protocol: StreamProtocol;
  readonly wire: Sent[] = [];
  readonly unacknowledged: Sent[] = [];
  readonly buffer: Uint8Array;
  readonly targets: Span[] = [];
  written = 0;
  read = 0;

  constructor(
    private readonly sizes: Sizes,
    peer: Sizes,
  ) {
    const told: ConnectionData = {
      version: 1,
      byteOrder: 'little',
      hasIomap: true,
      credits: peer.rqSize,
      iomapSize: 0,
      targets: { addr: 0n, key: 0, length: 2 },
      data: { addr: 0n, key: 0, length: peer.receiveBufferBytes / 2 },
    };
    this.buffer = new Uint8Array(sizes.receiveBufferBytes);
    this.protocol = new StreamProtocol(sizes, told, {
      target: (entry) => this.targets[entry],
      mapping: (): IomapEntry => assert.fail('nothing is mapped'),
    });
  }

  /** Writes up to so many bytes. */
  send(byteLength: number): void {
    const { protocol } = this;
    let left = byteLength;
    while (left > 0) {
      const length = protocol.chunk(left, MAX_CHUNK);
      if (length === 0) return;
      const { addr } = protocol.outgoing;
      const from = this.written;
      protocol.sentData(length);
      this.written += length;
      left -= length;
      this.wire.push({
        immediate: immediateOf(Operation.DATA, length),
        byteLength: length,
        write: (peer) => {
          for (let i = 0; i < length; i += 1) peer.buffer[Number(addr) + i] = patternAt(from + i);
        },
        completed: () => protocol.completedData(length),
      });
    }
  }

  /** Reads up to so many bytes. */
  take(byteLength: number): void {
    const { incoming } = this.protocol;
    for (let left = Math.min(byteLength, incoming.unread); left > 0; left -= 1) {
      assert.equal(this.buffer[incoming.readAt], patternAt(this.read), `byte ${this.read}`);
      incoming.consume(1);
      this.read += 1;
    }
    this.pump();
  }

  pump(): void {
    const { protocol } = this;
    for (let control = protocol.nextControl(); control !== undefined; control = protocol.nextControl()) {
      const { immediate, hasGrant, grantAt, entry } = control;
      const span = { addr: BigInt(grantAt), key: 0, length: this.sizes.receiveBufferBytes / 2 };
      this.wire.push({
        immediate,
        byteLength: hasGrant ? 16 : 0,
        write: (peer) => {
          if (hasGrant) peer.targets[entry] = span;
        },
        completed: () => protocol.completedControl(),
      });
    }
  }

  /** The peer has the oldest message. */
  deliver(peer: End): boolean {
    const message = this.wire.shift();
    if (message === undefined) return false;
    message.write(peer);
    assert.notEqual(peer.protocol.hear(message.immediate, message.byteLength), 'lie', peer.protocol.lie);
    peer.pump();
    this.unacknowledged.push(message);
    return true;
  }

  acknowledge(): boolean {
    const message = this.unacknowledged.shift();
    message?.completed();
    this.pump();
    return message !== undefined;
  }
}

function ends(a: Sizes, b: Sizes): [End, End] {
  const pair: [End, End] = [new End(a, b), new End(b, a)];
  for (const end of pair) end.pump();
  return pair;
}

function settle(pair: readonly [End, End]): void {
  let count = 0;
  for (let moved = true; moved;) {
    moved = false;
    for (const [end, peer] of [pair, [pair[1], pair[0]] as const]) {
      while (end.deliver(peer)) moved = true;
      while (end.acknowledge()) moved = true;
      if (end.protocol.incoming.unread > 0) moved = true;
      end.take(Infinity);
    }
    count += 1;
    assert.ok(count < 100_000, 'two ends that are done fall silent');
  }
}

const sizes = fc.record({
  sqSize: fc.integer({ min: 16, max: 40 }),
  rqSize: fc.integer({ min: 16, max: 40 }),
  inlineBytes: fc.integer({ min: 0, max: 100 }),
  sendBufferBytes: fc.integer({ min: 4096, max: 9000 }),
  receiveBufferBytes: fc.integer({ min: 2048, max: 4500 }).map((half) => 2 * half),
  iomapSize: fc.constant(0),
});
const step = fc.tuple(
  fc.constantFrom('send', 'take', 'deliver', 'acknowledge'),
  fc.constantFrom(0, 1),
  fc.integer({ min: 1, max: 6000 }),
);

describe('two ends of a stream', () => {
  it('lose nothing, never lie and never stall, whatever comes when', () => {
    fc.assert(
      fc.property(sizes, sizes, fc.array(step, { maxLength: 120 }), (a, b, steps) => {
        const pair = ends(a, b);
        for (const [action, which, byteLength] of steps) {
          const [end, peer] = [pair[which], pair[1 - which]];
          if (action === 'send') end.send(byteLength);
          else if (action === 'take') end.take(byteLength);
          else if (action === 'deliver') end.deliver(peer);
          else end.acknowledge();
        }
        settle(pair);
        for (const end of pair) {
          const before = end.written;
          end.send(1);
          assert.equal(end.written, before + 1, end.protocol.stall);
        }
        settle(pair);
        assert.equal(pair[1].read, pair[0].written);
        assert.equal(pair[0].read, pair[1].written);
      }),
      { numRuns: 200 },
    );
  });

  it('count beyond 65,536 messages, with any receive queue', () => {
    for (const rqSize of [16, 384, 65_534]) {
      const pair = ends({ ...SIZES, rqSize }, { ...SIZES, rqSize });
      for (let i = 0; i < 70_000; i += 1) {
        if (pair[0].protocol.chunk(1, 1) === 0) settle(pair);
        pair[0].send(1);
        if (i % 13 === 0) while (pair[0].deliver(pair[1]) && pair[0].acknowledge());
      }
      settle(pair);
      assert.equal(pair[1].read, 70_000);
    }
  });

  it('fill a half to its end, and the other one after it', () => {
    const pair = ends(SIZES, SIZES);
    const [end, peer] = pair;
    while (peer.deliver(end));
    end.send(4000);
    end.send(4192);
    assert.deepEqual(
      end.wire.filter(({ immediate }) => immediate < 8192).map(({ byteLength }) => byteLength),
      [4000, 96, 4096],
    );
    assert.match(end.protocol.stall ?? '', /named no buffer/);
  });
});

describe('the phases of a stream', () => {
  const endings: readonly Ending[] = ['endWrite', 'endRead', 'endBoth', 'hearShutdown', 'hearDisconnect'];
  const phases = Object.entries(PHASES) as [Phase, (typeof PHASES)[Phase]][];

  it('never take a direction back', () => {
    for (const [phase, { reads, writes, steps }] of phases)
      for (const ending of endings) {
        const next = PHASES[steps[ending].next];
        assert.ok((reads || !next.reads) && (writes || !next.writes), `${phase} ${ending}`);
      }
  });

  it('do what they are named for', () => {
    for (const [phase, { steps }] of phases) {
      assert.equal(PHASES[steps.endWrite.next].writes, false, phase);
      assert.equal(PHASES[steps.endRead.next].reads, false, phase);
      const both = PHASES[steps.endBoth.next];
      assert.equal(both.reads || both.writes, false, phase);
      const heard = PHASES[steps.hearDisconnect.next];
      assert.equal(heard.reads || heard.writes, false, phase);
      assert.equal(PHASES[steps.hearShutdown.next].reads, false, phase);
    }
  });

  it('change nothing when both directions have ended', () => {
    for (const [phase, { reads, writes, steps }] of phases)
      if (!reads && !writes)
        for (const ending of endings) assert.deepEqual(steps[ending], { next: phase, say: undefined });
  });
});
