import { Command } from 'commander';
import { getDeviceList } from '../../entry/index.js';
import { tool } from '../kit/errors.js';

function listDevices({ json }: { readonly json?: true }): void {
  const devices = getDeviceList().map(({ name, guid }) => ({ name, guid: guid.toString(16).padStart(16, '0') }));
  if (json === true) {
    process.stdout.write(`${JSON.stringify(devices.map(({ name, guid }) => ({ device: name, nodeGuid: guid })))}\n`);
    return;
  }
  const lines = [`    ${'device'.padEnd(16)}\t   node GUID`, `    ${'------'.padEnd(16)}\t----------------`];
  for (const { name, guid } of devices) lines.push(`    ${name.padEnd(16)}\t${guid}`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

export function command(): Command {
  return new Command('ibv_devices')
    .description('List RDMA devices.')
    .option('--json', 'print one JSON array')
    .action(tool(listDevices));
}
