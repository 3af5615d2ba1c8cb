import { numberOption } from '../../kit/options.js';
import type { Command } from 'commander';
import { rgetsockname } from '../../../entry/rsocket.js';
import { tool } from '../../kit/errors.js';
import { endOnInterrupt } from '../../kit/interrupt.js';
import { hostsOf } from '../../kit/listening.js';
import { type Carrier, type Route, RsocketCarriers, type SocketSetup, TcpCarriers } from '../common/rsocket-carrier.js';
import { routeOf, streamCommand, type StreamFlags } from '../common/flags.js';
import { memoryBytes, roundsOf, SYNC_BYTES } from '../common/plan.js';
import { playRounds } from '../common/play.js';
import { Pattern, type Purpose, type StreamTest } from '../common/tests.js';

interface RstreamFlags extends StreamFlags {
  readonly k?: number;
}

const MAX_IDLE_S = 32_767;

class Side {
  readonly #memory: Uint8Array;
  readonly #pattern: Pattern | undefined;

  constructor(
    private readonly isClient: boolean,
    bytes: number,
    verifies: boolean,
  ) {
    this.#memory = new Uint8Array(bytes);
    this.#pattern = verifies ? new Pattern() : undefined;
  }

  /** @returns µs */
  async play(carrier: Carrier, { sizeBytes, transfers, iterations }: StreamTest): Promise<number> {
    await this.#thereAndBack(carrier, SYNC_BYTES, 1);
    const begun = performance.now();
    for (let i = 0; i < iterations; i += 1) await this.#thereAndBack(carrier, sizeBytes, transfers);
    return (performance.now() - begun) * 1000;
  }

  async #thereAndBack(carrier: Carrier, sizeBytes: number, transfers: number): Promise<void> {
    const bytes = this.#memory.subarray(0, sizeBytes);
    if (this.isClient) await this.#send(carrier, bytes, transfers);
    await this.#receive(carrier, bytes, transfers);
    if (!this.isClient) await this.#send(carrier, bytes, transfers);
  }

  async #send(carrier: Carrier, bytes: Uint8Array, transfers: number): Promise<void> {
    for (let t = 0; t < transfers; t += 1) {
      this.#pattern?.fill(bytes);
      await carrier.send(bytes);
    }
  }

  async #receive(carrier: Carrier, bytes: Uint8Array, transfers: number): Promise<void> {
    for (let t = 0; t < transfers; t += 1) {
      await carrier.receive(bytes);
      this.#pattern?.verify(bytes);
    }
  }
}

/** Bandwidth is measured without inline; a custom test with what the library has. */
function setupOf(flags: RstreamFlags, purpose: Purpose): SocketSetup {
  const inlineBytes = { latency: flags.i, bandwidth: 0, custom: undefined }[purpose];
  return {
    blocks: flags.T.has('block'),
    polls: flags.T.has('async'),
    bufferBytes: flags.B,
    ...(inlineBytes === undefined ? {} : { inlineBytes }),
    ...(flags.k === undefined ? {} : { keepAliveSeconds: flags.k }),
  };
}

async function rstream(flags: RstreamFlags): Promise<void> {
  const route = await routeOf(flags);
  const rounds = roundsOf(flags);
  const side = new Side(flags.s !== undefined, memoryBytes(rounds), flags.T.has('verify'));
  let purpose: Purpose = rounds[0]?.purpose ?? 'custom';
  const carriers =
    flags.T.has('socket') || flags.T.has('fork')
      ? await overTcp(route)
      : overRsockets(route, flags, () => setupOf(flags, purpose));
  endOnInterrupt(() => carriers.close());
  await playRounds<Carrier>(
    'rstream',
    flags,
    carriers,
    (round) => (purpose = round.purpose),
    (carrier, test) => side.play(carrier, test),
  );
}

async function overTcp(route: Route): Promise<TcpCarriers> {
  const carriers = new TcpCarriers(route);
  await carriers.open();
  return carriers;
}

function overRsockets(route: Route, flags: RstreamFlags, setup: () => SocketSetup): RsocketCarriers {
  const carriers = new RsocketCarriers(route, setup, (line) => {
    if (flags.json !== true) process.stdout.write(`${line}\n`);
  });
  // The address that the device has chosen, which the user cannot know.
  if (carriers.listener !== undefined && flags.b === undefined)
    for (const host of hostsOf(rgetsockname(carriers.listener).host, flags.addr))
      process.stderr.write(`server at ${host}, port ${flags.p}\n`);
  return carriers;
}

export function command(): Command {
  return streamCommand(
    'rstream',
    'Measure how fast bytes go over rsockets, latency first and then bandwidth.\n' +
      'Speaks with the C tool of the same name. Give both sides the same options.',
    {
      socket: 'TCP sockets in place of rsockets',
      async: 'rpoll before each call',
      block: 'calls that wait',
      fork: 'as socket: a process of its own for each client would be the same here',
      nonblock: 'calls that do not wait (the default)',
      resolve: 'find addresses by rdma_cm, as is always done here',
      verify: 'look at what arrives',
    },
  )
    .addOption(numberOption('-k <keepalive_time>', 'seconds of silence after which the peer is asked', 1, MAX_IDLE_S))
    .addHelpText(
      'after',
      `
Two shells, one machine:
  verbena rstream                            the server
  verbena rstream -s 127.0.0.1 -T v          the client; then -T v at the server too

With a host that runs Soft-RoCE and rstream (here its address is 192.0.2.7):
  verbena rstream -s 192.0.2.7`,
    )
    .action(tool(rstream));
}
