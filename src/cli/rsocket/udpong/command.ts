import { Command } from 'commander';
import { addressOf } from '../../kit/addresses.js';
import { withCmHosting } from '../../rdmacm/common/hosting.js';
import { MAY_NOT_ANSWER, toldIfSilent } from '../../rdmacm/common/silence.js';
import { tool } from '../../kit/errors.js';
import { endOnInterrupt } from '../../kit/interrupt.js';
import { tellListening } from '../../kit/listening.js';
import { type HostingOptions, streamDevice, numberOption } from '../../kit/options.js';
import { testOption } from '../common/flags.js';
import { countText, sizeText, testOf } from '../common/tests.js';
import { type Carrier, RsocketCarrier, UdpCarrier } from './carrier.js';
import { Client, type Pong, type PongTest } from './client.js';
import { CONTROL_BYTES, MAX_BYTES } from './messages.js';
import { serve } from './server.js';
import { headOf, lineOf } from '../common/table.js';

const HEAD = headOf('name', 'bytes', 'xfers', 'total');

function headLine(): string {
  return HEAD;
}

function figures({ sizeBytes, arrived, elapsedUs }: Pong) {
  const totalBytes = arrived * sizeBytes;
  return {
    totalBytes,
    gbPerSecond: (totalBytes * 8) / (1000 * elapsedUs),
    usPerTransfer: arrived === 0 ? 0 : elapsedUs / arrived,
  };
}

function pongLine(pong: Pong): string {
  const rates = figures(pong);
  const own = [pong.name, sizeText(pong.sizeBytes), countText(pong.arrived), sizeText(rates.totalBytes)];
  return lineOf(own, { ...pong, ...rates });
}

/** The same for `--json`. */
function pongFacts(pong: Pong): object {
  return { ...pong, ...figures(pong) };
}

interface UdpongFlags extends HostingOptions {
  readonly s?: string;
  readonly b?: string;
  readonly B: number;
  readonly C?: number;
  readonly S?: number;
  readonly p: number;
  readonly T: ReadonlySet<string>;
  readonly json?: true;
}

const PORT = 7174;
const BUFFER_BYTES = 1 << 19;
const MAX_BUFFER = 1 << 30;
const MAX_COUNT = 2 ** 31 - 1;
const CUSTOM_COUNT = 1000;
const CUSTOM_BYTES = 1000;
const SIZES: readonly number[] = [64, 128, 192, 256, 384, 512, 768, 1024, 1536];
/** Of a latency test, where the one of bandwidth has ten. */
const SHARE_OF_ECHOES = 10;

function testsOf({ C: count, S: size, T: words }: UdpongFlags): readonly PongTest[] {
  if (count !== undefined || size !== undefined) {
    const custom = {
      name: 'custom',
      sizeBytes: size ?? CUSTOM_BYTES,
      transfers: count ?? CUSTOM_COUNT,
    };
    return [{ ...custom, echo: words.has('echo') }];
  }
  const all = (echo: boolean): PongTest[] =>
    SIZES.map((sizeBytes) => {
      const { name } = testOf(echo ? 'latency' : 'bandwidth', sizeBytes);
      const { transfers } = testOf('bandwidth', sizeBytes);
      return { name, sizeBytes, transfers: echo ? transfers / SHARE_OF_ECHOES : transfers, echo };
    });
  return [...all(true), ...all(false)];
}

async function opened(flags: UdpongFlags): Promise<Carrier> {
  const place = {
    ...(flags.b === undefined ? {} : { source: await addressOf(flags.b) }),
    ...(flags.s === undefined ? {} : { destination: await addressOf(flags.s) }),
    port: flags.p,
    bufferBytes: flags.B,
  };
  return flags.T.has('socket') ? UdpCarrier.open(place) : RsocketCarrier.open(place, streamDevice(flags));
}

async function answer(carrier: Carrier): Promise<void> {
  const interrupted = new AbortController();
  const { signal } = interrupted;
  endOnInterrupt(() => {
    interrupted.abort();
    return carrier.close();
  });
  try {
    await serve(carrier, (host) => process.stdout.write(`client login from ${host}\n`), signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function udpong(flags: UdpongFlags): Promise<void> {
  const carrier = await opened(flags);
  if (flags.s === undefined) {
    if (carrier instanceof RsocketCarrier) tellListening(carrier.at, flags.b, flags);
    await answer(carrier);
    return;
  }
  const say = (line: string): void => {
    if (flags.json !== true) process.stdout.write(`${line}\n`);
  };
  endOnInterrupt(() => carrier.close());
  say(headLine());
  const client = new Client(carrier);
  await toldIfSilent(client.login(), MAY_NOT_ANSWER);
  const all: Pong[] = [];
  for (const test of testsOf(flags)) {
    const pong = await client.play(test);
    all.push(pong);
    say(pongLine(pong));
  }
  await carrier.close();
  if (flags.json === true) process.stdout.write(`${JSON.stringify({ tool: 'udpong', tests: all.map(pongFacts) })}\n`);
}

export function command(): Command {
  const base = new Command('udpong')
    .description(
      'Measure how fast datagrams go over rsockets, echoed first and then one way; without -s be the server, until Ctrl-C.\n' +
        'Speaks with the C tool of the same name.',
    )
    .option('-s <server_address>', 'be the client of the server with that name or address (default: be the server)')
    .option('-b <bind_address>', 'address of this side')
    .addOption(numberOption('-B <buffer_size>', 'SO_SNDBUF and SO_RCVBUF', 1, MAX_BUFFER, BUFFER_BYTES))
    .addOption(numberOption('-C <transfer_count>', 'one custom test, of so many messages', 1, MAX_COUNT))
    .addOption(
      numberOption('-S <transfer_size>', 'one custom test, of so many bytes a message', CONTROL_BYTES, MAX_BYTES),
    )
    .addOption(numberOption('-p <port_number>', 'port of the server', 1, 65_535, PORT))
    .addOption(
      testOption({
        socket: 'plain UDP sockets',
        async: 'rpoll before each call (as it always is here)',
        block: 'calls that wait',
        nonblock: 'calls that do not wait (here they are told when)',
        echo: 'the custom test is echoed',
      }),
    );
  return withCmHosting(base)
    .addHelpText(
      'after',
      `
Two shells, one machine:
  verbena udpong                             the server
  verbena udpong -s 127.0.0.1                the client

Datagrams may get lost: of those that go one way the table counts what has arrived.`,
    )
    .action(tool(udpong));
}
