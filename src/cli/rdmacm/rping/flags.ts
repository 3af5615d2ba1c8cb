import { Command } from 'commander';
import { withCmHosting } from '../common/hosting.js';
import { type HostingOptions, numberOption } from '../../kit/options.js';

export interface RpingFlags extends HostingOptions {
  readonly s?: true;
  readonly c?: true;
  readonly a?: string;
  readonly I?: string;
  readonly p: number;
  readonly C: number;
  readonly S: number;
  readonly v?: true;
  readonly V?: true;
  readonly d?: true;
  readonly P?: true;
  readonly q?: true;
  readonly json?: true;
}

/** What the C tool takes. */
const MIN_BYTES = 23;
const MAX_BYTES = 65535;
const DEFAULT_BYTES = 64;
const PORT = 7174;

export function rpingCommand(): Command {
  const command = new Command('rping')
    .description(
      'Move text to and fro between two hosts by RDMA READ and RDMA WRITE, over a connection made by rdma_cm;\n' +
        'speaks with the C tool of the same name.',
    )
    .option('-s', 'server side')
    .option('-c', 'client side')
    .option(
      '-a <address>',
      'client: the address of the server; server: the address to bind to (default any; ::0 for IPv6)',
    )
    .option('-I <address>', 'client: the address to come from')
    .addOption(numberOption('-p <port>', 'port of the server', 1, 65535, PORT))
    .addOption(numberOption('-C <count>', 'how many pings; 0 for as many as there may be', 0, 2 ** 31 - 1, 0))
    .addOption(numberOption('-S <size>', 'bytes of each ping', MIN_BYTES, MAX_BYTES, DEFAULT_BYTES))
    .option('-v', 'display ping data')
    .option('-V', 'validate ping data')
    .option('-d', 'display what happens')
    .option('-P', 'server: take many connections, one after the other and side by side, until it is ended')
    .option('-q', 'make and move the queue pair by verbs, and not by rdma_cm');
  return withCmHosting(command).addHelpText(
    'after',
    `
Two shells, one machine:
  verbena rping -s -a 127.0.0.1                 the server
  verbena rping -c -a 127.0.0.1 -C 10 -v        the client

With a host that runs Soft-RoCE and rping -s (here its address is 192.0.2.7):
  verbena rping -c -a 192.0.2.7 -C 10 -v`,
  );
}
