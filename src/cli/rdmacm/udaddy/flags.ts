import { type Command } from 'commander';
import { PortSpace } from '../../../entry/index.js';
import { nodeCommand, type NodeFlags, numberOption, portSpaceOption } from '../common/node-flags.js';

export interface UdaddyFlags extends NodeFlags {
  /** The port space by its number: what -P says by name. */
  readonly p?: number;
}

/** The C tool knows no option for it. */
export const PORT = 7174;

export function udaddyCommand(): Command {
  const description =
    'Find the datagram queue pairs of another host by rdma_cm, and exchange datagrams with each;\n' +
    'speaks with the C tool of the same name.';
  return nodeCommand('udaddy', description)
    .addOption(portSpaceOption({ udp: PortSpace.UDP, ipoib: PortSpace.IPOIB }))
    .addOption(numberOption('-p <port_space>', 'port space by its number: 0x111 (UDP) or 0x2 (IPoIB)', 0, 0xffff))
    .addHelpText(
      'after',
      `
Two shells, one machine:
  verbena udaddy -b 127.0.0.1                 the server
  verbena udaddy -s 127.0.0.1                 the client

With a host that runs Soft-RoCE and udaddy (here its address is 192.0.2.7):
  verbena udaddy -s 192.0.2.7`,
    );
}
