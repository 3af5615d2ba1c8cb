import { Option, type Command } from 'commander';
import { Mtu } from '../../entry/index.js';
import { type HostingOptions, withHosting, numberOption, pathMtu } from '../kit/options.js';

/** The options of the ping-pong tools. Which of them a tool has, its table row says. */
export interface PingPongFlags extends HostingOptions {
  readonly port: number;
  readonly ibDev?: string;
  readonly ibPort: number;
  readonly size: number;
  readonly mtu?: Mtu;
  readonly rxDepth: number;
  readonly numQp?: number;
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
  readonly clients: number;
  readonly num_tests: number;
  readonly json?: true;
}

const OPTIONS = {
  port: () => numberOption('-p, --port <port>', 'listen on/connect to port <port>', 1, 65535, 18515),
  ibDev: () => new Option('-d, --ib-dev <dev>', 'use IB device <dev> (default first device found)'),
  ibPort: () => numberOption('-i, --ib-port <port>', 'use port <port> of IB device', 1, 255, 1),
  size: (sizeBytes: number) => numberOption('-s, --size <size>', 'size of message to exchange', 1, 2 ** 31, sizeBytes),
  mtu: () => new Option('-m, --mtu <size>', 'path MTU').argParser(pathMtu).default(Mtu.MTU_1024, '1024'),
  numQp: () => numberOption('-q, --num-qp <num>', 'number of QPs to use, which share the exchanges', 1, 65535, 16),
  rxDepth: () => numberOption('-r, --rx-depth <dep>', 'number of receives to post at a time', 1, 1 << 20, 500),
  iters: () => numberOption('-n, --iters <iters>', 'number of exchanges', 1, 2 ** 31, 1000),
  clients: () => numberOption('-c, --clients <n>', 'number of clients (on server only)', 1, 256, 1),
  numTests: () => numberOption('-n, --num_tests <n>', 'number of tests per client', 1, 1 << 20, 5),
  sl: () => numberOption('-l, --sl <sl>', 'service level value', 0, 15, 0),
  events: () => new Option('-e, --events', 'sleep on CQ events (default poll)'),
  gidIdx: () =>
    numberOption(
      '-g, --gid-idx <gid index>',
      'local port gid index (default: the one that has the address)',
      0,
      0xffff,
    ),
  odp: () => new Option('-o, --odp', 'use on demand paging'),
  iodp: () => new Option('-O, --iodp', 'use implicit on demand paging (not on this device)'),
  prefetch: () => new Option('-P, --prefetch', 'prefetch an ODP MR'),
  ts: () => new Option('-t, --ts', 'get CQE with timestamp'),
  chk: () => new Option('-c, --chk', 'validate received buffer'),
  dm: () => new Option('-j, --dm', 'use device memory (not on this device)'),
  newSend: () => new Option('-N, --new_send', 'use new post send WR API'),
  unprotected: () =>
    new Option('-U, --allow-cc-unprotected', 'allow unprotected memory on CoCo guests (not on this device)'),
} satisfies Record<string, (sizeBytes: number) => Option>;

/** One of the C tools' options. */
export type FlagName = keyof typeof OPTIONS;

/** Adds the argument and the options that a tool has, and those that all of ours have. */
export function withFlags(command: Command, flags: readonly FlagName[], sizeBytes: number): Command {
  command.argument('[host]', "the server's host name or address");
  for (const flag of flags) command.addOption(OPTIONS[flag](sizeBytes));
  return withHosting(command.option('--json', 'print one JSON object'));
}
