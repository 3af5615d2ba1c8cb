import { Command } from 'commander';
import { getDeviceList } from '../index.js';
import { tool } from './errors.js';

function listDevices(): void {
  const lines = [`    ${'device'.padEnd(16)}\t   node GUID`, `    ${'------'.padEnd(16)}\t----------------`];
  for (const device of getDeviceList()) {
    lines.push(`    ${device.name.padEnd(16)}\t${device.guid.toString(16).padStart(16, '0')}`);
  }
  process.stdout.write(`${lines.join('\n')}\n`);
}

export function command(): Command {
  return new Command('ibv_devices').description('List RDMA devices.').action(tool(listDevices));
}
