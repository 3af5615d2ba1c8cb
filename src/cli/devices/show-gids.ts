import { Command } from 'commander';
import {
  type Device,
  getDeviceList,
  type Gid,
  type GidEntry,
  GidType,
  ipFromGid,
  isIpv4Gid,
} from '../../entry/index.js';
import { tool, ToolError } from '../kit/errors.js';
import { netdevOf } from '../kit/addresses.js';
import { type HostingOptions, withHosting } from '../kit/options.js';
import { findDevice, openToAsk } from './devices.js';

interface GidsOptions extends HostingOptions {
  readonly json?: true;
}

interface Row {
  readonly device: string;
  readonly port: number;
  readonly index: number;
  /** All eight groups in full, as the kernel writes it. */
  readonly gid: string;
  /** Empty for a GID that is none. */
  readonly ipv4: string;
  readonly version: string;
  readonly netdev: string;
}

const VERSIONS = new Map<number, string>([
  [GidType.ROCE_V1, 'v1'],
  [GidType.ROCE_V2, 'v2'],
]);

// The columns of the script of this name that comes with NVIDIA's drivers, tabs and blanks as there.
const HEADING = [
  'DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV',
  '---\t----\t-----\t---\t\t\t\t\t------------  \t---\t---',
];

function groupsOf(gid: Gid): string {
  const digits = Buffer.from(gid).toString('hex');
  return (digits.match(/.{4}/g) ?? []).join(':');
}

function rowOf(device: string, { gid, gidIndex, portNum, gidType }: GidEntry): Row {
  const address = ipFromGid(gid);
  return {
    device,
    port: portNum,
    index: gidIndex,
    gid: groupsOf(gid),
    ipv4: isIpv4Gid(gid) ? address : '',
    version: VERSIONS.get(gidType) ?? '',
    netdev: netdevOf(address) ?? '',
  };
}

function rowsOf(device: Device, options: GidsOptions): Row[] {
  const context = openToAsk(device, options);
  try {
    return context.queryGidTable().map((entry) => rowOf(device.name, entry));
  } finally {
    context.close();
  }
}

function line({ device, port, index, gid, ipv4, version, netdev }: Row): string {
  const address = ipv4 === '' ? '\t' : `${ipv4}  `;
  return [device, port, index, gid, address, version, netdev].join('\t');
}

function showGids(name: string | undefined, options: GidsOptions): void {
  const devices =
    name === undefined
      ? getDeviceList()
      : [findDevice(name, (wanted) => new ToolError(`IB device ${wanted} not found`))];
  const rows = devices.flatMap((device) => rowsOf(device, options));
  if (options.json === true) process.stdout.write(`${JSON.stringify(rows)}\n`);
  else process.stdout.write(`${[...HEADING, ...rows.map(line), `n_gids_found=${rows.length}`].join('\n')}\n`);
}

export function command(): Command {
  return withHosting(
    new Command('show_gids')
      .description("Print a device's GID table, with addresses and interfaces.")
      .argument('[device]', 'default: all devices')
      .option('--json', 'print one JSON array'),
  ).action(tool(showGids));
}
