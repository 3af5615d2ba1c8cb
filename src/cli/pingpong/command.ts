import { Command, InvalidArgumentError, Option } from 'commander';
import { type Context, Mtu, mtuBytes, mtuFromBytes } from '../../index.js';
import { findDevice } from '../devices.js';
import { ToolError, attempt, tool } from '../errors.js';
import { gidText } from '../gid-text.js';
import { type HostingOptions, openOptions, wholeNumber, withHosting } from '../options.js';
import { acceptClient, connectToServer, exchangeAsClient, exchangeAsServer, listenForClient } from './bootstrap.js';
import { type Destination } from './destination.js';
import { openToward } from './local-address.js';
import { PingPong, type PingPongResult } from './ping-pong.js';

interface PingPongFlags extends HostingOptions {
  readonly port: number;
  readonly ibDev?: string;
  readonly ibPort: number;
  readonly size: number;
  readonly mtu: Mtu;
  readonly rxDepth: number;
  readonly iters: number;
  readonly sl: number;
  readonly events?: true;
  readonly gidIdx?: number;
  readonly odp?: true;
  readonly iodp?: true;
  readonly prefetch?: true;
  readonly ts?: true;
  readonly chk?: true;
  readonly dm?: true;
  readonly new_send?: true;
  readonly allowCcUnprotected?: true;
  readonly json?: true;
}

/** Refuses what this device does not have, with the words of the C tool on such a device. */
function refuseUnsupported(flags: PingPongFlags): void {
  const odp = flags.odp === true || flags.iodp === true;
  if (odp && flags.dm === true) throw new ToolError("DM memory region can't be on demand");
  if (flags.allowCcUnprotected === true && odp) {
    throw new ToolError('CoCo unprotected memory cannot be used with ODP');
  }
  if (flags.allowCcUnprotected === true && flags.dm === true) {
    throw new ToolError('CoCo unprotected memory cannot be used with device memory');
  }
  if (!odp && flags.prefetch === true) throw new ToolError('prefetch is valid only with on-demand memory region');
  if (flags.allowCcUnprotected === true) throw new ToolError("Couldn't allocate parent domain");
  if (odp) {
    throw new ToolError("The device isn't ODP capable or does not support RC send and receive with ODP");
  }
  if (flags.ts === true) throw new ToolError("The device isn't completion timestamp capable");
  if (flags.dm === true) throw new ToolError("Device doesn't support dm allocation");
}

function pathMtu(text: string): Mtu {
  const mtu = mtuFromBytes(Number(text));
  if (mtu === undefined || mtuBytes(mtu) !== Number(text)) {
    throw new InvalidArgumentError('A path MTU is 256, 512, 1024, 2048 or 4096.');
  }
  return mtu;
}

/** With --json the same facts come as one object at the end. */
class Report {
  readonly #json: boolean;
  readonly #facts: Record<string, unknown> = {};

  constructor(json: boolean) {
    this.#json = json;
  }

  address(which: 'local' | 'remote', destination: Destination): void {
    const { lid, qpn, psn } = destination;
    const gid = gidText(destination.gid);
    if (this.#json) {
      this.#facts[which] = { lid, qpn, psn, gid };
      return;
    }
    const number = (value: number, digits: number): string => `0x${value.toString(16).padStart(digits, '0')}`;
    process.stdout.write(
      `  ${`${which} address:`.padEnd(15)} LID ${number(lid, 4)}, QPN ${number(qpn, 6)}, PSN ${number(psn, 6)}, GID ${gid}\n`,
    );
  }

  result(flags: PingPongFlags, result: PingPongResult, context: Context): void {
    const { elapsedUs, invalidPages, note } = result;
    const bytes = flags.size * flags.iters * 2;
    const mbitPerSecond = (bytes * 8) / elapsedUs;
    const usecPerIteration = elapsedUs / flags.iters;
    if (note !== undefined) process.stderr.write(`${note}\n`);
    if (this.#json) {
      const { iters: iterations } = flags;
      const figures = { bytes, iterations, elapsedUs, mbitPerSecond, usecPerIteration, invalidPages };
      process.stdout.write(`${JSON.stringify({ ...this.#facts, ...figures, counters: context.counters() })}\n`);
      return;
    }
    const seconds = (elapsedUs / 1e6).toFixed(2);
    process.stdout.write(
      `${bytes} bytes in ${seconds} seconds = ${mbitPerSecond.toFixed(2)} Mbit/sec\n` +
        `${flags.iters} iters in ${seconds} seconds = ${usecPerIteration.toFixed(2)} usec/iter\n` +
        invalidPages.map((page) => `invalid data in page ${page}\n`).join(''),
    );
  }
}

async function pingPong(host: string | undefined, flags: PingPongFlags): Promise<void> {
  refuseUnsupported(flags);
  const device = findDevice(flags.ibDev, (name) => new ToolError(`IB device ${name} not found`));
  const report = new Report(flags.json === true);

  // A client opens its device after the connection is made: its address follows from the server's.
  const toServer = host === undefined ? undefined : await connectToServer(host, flags.port);
  const listener = toServer === undefined ? await listenForClient(flags.port) : undefined;
  const context =
    toServer === undefined
      ? attempt(`Couldn't get context for ${device.name}`, () => device.open(openOptions(flags)))
      : openToward(device, toServer, flags);
  const side = new PingPong(context, {
    sizeBytes: flags.size,
    pathMtu: flags.mtu,
    rxDepth: flags.rxDepth,
    iterations: flags.iters,
    serviceLevel: flags.sl,
    portNum: flags.ibPort,
    gidIndex: flags.gidIdx,
    useEvents: flags.events === true,
    newSend: flags.new_send === true,
    validate: flags.chk === true,
  });
  report.address('local', side.local);
  if (toServer !== undefined) {
    const remote = await exchangeAsClient(toServer, side.local);
    report.address('remote', remote);
    side.connect(remote);
  } else if (listener !== undefined) {
    const client = await acceptClient(listener);
    report.address('remote', await exchangeAsServer(client, side.local, (remote) => side.connect(remote)));
  }
  report.result(flags, side.run(toServer !== undefined), context);
  side.close();
  context.close();
}

export function command(): Command {
  const number = wholeNumber;
  return withHosting(
    new Command('ibv_rc_pingpong')
      .description(
        'Bounce messages between two hosts over a reliable connection; speaks with the C tool of the same name.\n' +
          'Without a host: start a server and wait for a connection. With one: connect to the server there.',
      )
      .argument('[host]', "the server's host name or address")
      .option('-p, --port <port>', 'listen on/connect to port <port>', number(1, 65535), 18515)
      .option('-d, --ib-dev <dev>', 'use IB device <dev> (default first device found)')
      .option('-i, --ib-port <port>', 'use port <port> of IB device', number(1, 255), 1)
      .option('-s, --size <size>', 'size of message to exchange', number(1, 2 ** 31), 4096)
      .addOption(new Option('-m, --mtu <size>', 'path MTU').argParser(pathMtu).default(Mtu.MTU_1024, '1024'))
      .option('-r, --rx-depth <dep>', 'number of receives to post at a time', number(1, 1 << 20), 500)
      .option('-n, --iters <iters>', 'number of exchanges', number(1, 2 ** 31), 1000)
      .option('-l, --sl <sl>', 'service level value', number(0, 15), 0)
      .option('-e, --events', 'sleep on CQ events (default poll)')
      .option(
        '-g, --gid-idx <gid index>',
        'local port gid index (default: the one that has the address)',
        number(0, 0xffff),
      )
      .option('-o, --odp', 'use on demand paging (not on this device)')
      .option('-O, --iodp', 'use implicit on demand paging (not on this device)')
      .option('-P, --prefetch', 'prefetch an ODP MR (not on this device)')
      .option('-t, --ts', 'get CQE with timestamp (not on this device)')
      .option('-c, --chk', 'validate received buffer')
      .option('-j, --dm', 'use device memory (not on this device)')
      .option('-N, --new_send', 'use new post send WR API')
      .option('-U, --allow-cc-unprotected', 'allow unprotected memory on CoCo guests (not on this device)')
      .option('--json', 'print one JSON object'),
  ).action(tool((host: string | undefined, flags: PingPongFlags) => pingPong(host, flags)));
}
