import { Command, InvalidArgumentError, Option } from 'commander';
import { PortSpace } from '../../../entry/index.js';
import { withCmHosting } from '../common/hosting.js';
import { type HostingOptions, numberOption } from '../../kit/options.js';

export interface MckeyFlags extends HostingOptions {
  readonly m?: string;
  readonly M?: string;
  readonly s?: true;
  readonly b?: string;
  readonly c: number;
  readonly C: number;
  readonly S: number;
  readonly p: PortSpace;
  readonly o?: true;
  readonly l?: true;
  readonly pause: number;
  readonly json?: true;
}

const MAX_BYTES = 1 << 20;
/** As long as the C tool, which leaves the switches time to learn who has joined. */
const PAUSE_MS = 3000;

function portSpace(text: string): PortSpace {
  const value = Number(text);
  if (value === PortSpace.UDP || value === PortSpace.IPOIB) return value;
  throw new InvalidArgumentError('It is 0x111 (UDP) or 0x2 (IPOIB).');
}

export function mckeyCommand(): Command {
  const base = new Command('mckey')
    .description(
      'Join a multicast group by rdma_cm, and receive datagrams from it or, with -s, send some to it.\n' +
        'Speaks with the C tool of the same name.',
    )
    .option('-m <address>', 'IP address of the group: 224.0.0.0 to 239.255.255.255, or ff00::/8')
    .option('-M <gid>', 'GID of the group, in place of -m; needs -b')
    .option('-s', 'send to the group')
    .option('-b <address>', 'address to bind to (default: as --addr says)')
    .addOption(numberOption('-c <connections>', 'queue pairs that join the group', 1, 1 << 16, 1))
    .addOption(numberOption('-C <count>', 'messages per queue pair', 0, 2 ** 31 - 1, 10))
    .addOption(numberOption('-S <size>', 'bytes of each message, at most the MTU', 0, MAX_BYTES, 100))
    .addOption(
      new Option('-p <port space>', '0x111: UDP; 0x2: IPOIB').argParser(portSpace).default(PortSpace.UDP, '0x111'),
    )
    .option('-o', 'join to send only')
    .option('-l', 'do not get back what is sent from here')
    .addOption(numberOption('--pause <ms>', 'time between joining and the data', 0, 2 ** 31 - 1, PAUSE_MS));
  return withCmHosting(base).addHelpText(
    'after',
    `
Two hosts, here with the addresses 192.0.2.7 and 192.0.2.8, the first one first; either may run the C tool on Soft-RoCE:
  verbena mckey -m 239.1.2.3 -b 192.0.2.7
  verbena mckey -m 239.1.2.3 -b 192.0.2.8 -s

Two shells, one machine:
  verbena mckey -m 239.1.2.3 -b 127.0.0.1
  verbena mckey -m 239.1.2.3 -b 127.0.0.2 -s`,
  );
}
