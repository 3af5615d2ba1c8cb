import type { Command } from 'commander';
import { alloc } from '../../../entry/index.js';
import { MapProtection, PollEvents, rgetsockname, riomap, riounmap, riowrite, rpoll } from '../../../entry/rsocket.js';
import { tool, ToolError } from '../../kit/errors.js';
import { endOnInterrupt } from '../../kit/interrupt.js';
import { hostsOf } from '../../kit/listening.js';
import { ENDED_EARLY, type RsocketCarrier, RsocketCarriers, type SocketSetup } from '../common/rsocket-carrier.js';
import { routeOf, streamCommand, type StreamFlags } from '../common/flags.js';
import { memoryBytes, roundsOf, SYNC_BYTES } from '../common/plan.js';
import { playRounds } from '../common/play.js';
import { Pattern, type Purpose, type StreamTest } from '../common/tests.js';

/** What a test begins with in the last byte: no marker. */
const NO_MARKER = 0xff;
const BYTE_VALUES = 256;
/** Looks at memory between two looks at the connection, which may have ended. */
const LOOKS = 1000;

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** One side of a test: it writes into the peer's memory, and the last byte of the last transfer says that all is there. */
class Side {
  readonly #memory: Uint8Array;
  readonly #pattern: Pattern | undefined;
  #marker = 0;

  constructor(
    private readonly isClient: boolean,
    bytes: number,
    verifies: boolean,
  ) {
    this.#memory = alloc(bytes);
    this.#pattern = verifies ? new Pattern() : undefined;
  }

  /** @returns µs */
  async play(carrier: RsocketCarrier, { sizeBytes, transfers, iterations }: StreamTest): Promise<number> {
    const memory = this.#memory.subarray(0, sizeBytes);
    this.#marker = 0;
    memory[sizeBytes - 1] = NO_MARKER;
    riomap(carrier.socket, memory, MapProtection.WRITE, 0, 0);
    await this.#meet(carrier);
    const begun = performance.now();
    for (let i = 0; i < iterations; i += 1) {
      if (this.isClient) await this.#send(carrier, memory, transfers);
      await this.#receive(carrier, memory);
      if (!this.isClient) await this.#send(carrier, memory, transfers);
    }
    const elapsedUs = (performance.now() - begun) * 1000;
    riounmap(carrier.socket, memory);
    return elapsedUs;
  }

  /** The memory of both sides is mapped. */
  async #meet(carrier: RsocketCarrier): Promise<void> {
    const word = new Uint8Array(SYNC_BYTES);
    if (this.isClient) await carrier.send(word);
    await carrier.receive(word);
    if (!this.isClient) await carrier.send(word);
  }

  #nextMarker(): number {
    const marker = this.#marker;
    this.#marker = (marker + 1) % BYTE_VALUES;
    return marker;
  }

  async #send(carrier: RsocketCarrier, memory: Uint8Array, transfers: number): Promise<void> {
    for (let t = 1; t < transfers; t += 1) await this.#write(carrier, memory);
    memory[memory.length - 1] = this.#nextMarker();
    this.#pattern?.fill(memory.subarray(0, -1));
    await this.#write(carrier, memory);
  }

  async #write(carrier: RsocketCarrier, memory: Uint8Array): Promise<void> {
    for (let at = 0; at < memory.length;) {
      const part = memory.subarray(at);
      const count = await carrier.attempt(PollEvents.OUT, (flags) => riowrite(carrier.socket, part, at, flags));
      if (count === 0) throw new ToolError('The peer has mapped less memory; do both sides have the same options?');
      at += count;
    }
  }

  /** Looks at memory until the marker is there. Nothing else tells. */
  async #receive(carrier: RsocketCarrier, memory: Uint8Array): Promise<void> {
    const marker = this.#nextMarker();
    for (let look = 1; Atomics.load(memory, memory.length - 1) !== marker; look += 1) {
      await turn();
      if (look % LOOKS === 0 && (await isOver(carrier))) throw new ToolError(ENDED_EARLY);
    }
    this.#pattern?.verify(memory.subarray(0, -1));
  }
}

async function isOver({ socket }: RsocketCarrier): Promise<boolean> {
  const polled = { fd: socket, events: PollEvents.IN, revents: 0 };
  await rpoll([polled], 0);
  return polled.revents !== 0;
}

async function riostream(flags: StreamFlags): Promise<void> {
  const route = await routeOf(flags);
  const rounds = roundsOf(flags);
  const side = new Side(flags.s !== undefined, memoryBytes(rounds), flags.T.has('verify'));
  let purpose: Purpose = rounds[0]?.purpose ?? 'custom';
  const setupOf = (): SocketSetup => {
    const inlineBytes = { latency: flags.i, bandwidth: 0, custom: undefined }[purpose];
    return {
      blocks: flags.T.has('block'),
      polls: flags.T.has('async'),
      bufferBytes: flags.B,
      iomapSize: 1,
      ...(inlineBytes === undefined ? {} : { inlineBytes }),
    };
  };
  const carriers = new RsocketCarriers(route, setupOf);
  if (carriers.listener !== undefined && flags.b === undefined)
    for (const host of hostsOf(rgetsockname(carriers.listener).host, flags.addr))
      process.stderr.write(`server at ${host}, port ${flags.p}\n`);
  endOnInterrupt(() => carriers.close());
  await playRounds<RsocketCarrier>(
    'riostream',
    flags,
    carriers,
    (round) => (purpose = round.purpose),
    (carrier, test) => side.play(carrier, test),
  );
}

export function command(): Command {
  return streamCommand(
    'riostream',
    'Measure how fast bytes go into memory that the peer has mapped (riomap, riowrite), latency first and then bandwidth.\n' +
      'Speaks with the C tool of the same name. Give both sides the same options.',
    {
      async: 'rpoll before each call',
      block: 'calls that wait',
      nonblock: 'calls that do not wait (the default)',
      verify: 'look at what arrives',
    },
  )
    .addHelpText(
      'after',
      `
Two shells, one machine:
  verbena riostream                          the server
  verbena riostream -s 127.0.0.1             the client`,
    )
    .action(tool(riostream));
}
