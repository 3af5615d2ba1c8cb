import { type Command } from 'commander';
import { PortSpace } from '../../../entry/index.js';
import { nodeCommand, type NodeFlags, numberOption, portSpaceOption } from '../common/node-flags.js';

export interface UcmatoseFlags extends NodeFlags {
  readonly p: number;
  readonly m?: true;
  readonly a?: number;
}

const PORT = 7471;

export function ucmatoseCommand(): Command {
  const description =
    'Make reliable connections between two hosts by rdma_cm, exchange messages over each, and end them;\n' +
    'speaks with the C tool of the same name.';
  return nodeCommand('ucmatose', description)
    .addOption(portSpaceOption({ tcp: PortSpace.TCP, ib: PortSpace.IB }))
    .addOption(numberOption('-p <port_number>', 'port of the server', 1, 65535, PORT))
    .option('-m', 'have the connections report to another event channel before they end')
    .addOption(numberOption('-a <ack_timeout>', 'how long the peer may take to acknowledge, in 4.096 us * 2^n', 0, 31))
    .addHelpText(
      'after',
      `
Two shells, one machine:
  verbena ucmatose -b 127.0.0.1                 the server
  verbena ucmatose -s 127.0.0.1                 the client

With a host that runs Soft-RoCE and ucmatose -c 10 (here its address is 192.0.2.7):
  verbena ucmatose -s 192.0.2.7 -c 10`,
    );
}
