import { type Context, type Device, getDeviceList, VerbsError } from '../../entry/index.js';
import { attempt, ToolError, tool } from '../kit/errors.js';
import { type HostingOptions, openOptions } from '../kit/options.js';
import { Command } from 'commander';

export function findDevice(name: string | undefined, notFound: (name: string) => ToolError): Device {
  const devices = getDeviceList();
  const first = devices.at(0);
  if (first === undefined) throw new ToolError('No IB devices found');
  if (name === undefined) return first;
  const device = devices.find((candidate) => candidate.name === name);
  if (device === undefined) throw notFound(name);
  return device;
}

/** Opens a device to ask it things. Nothing is sent, so a thread for the NIC, where it is no must, would only cost time. */
export function openToAsk(device: Device, options: HostingOptions): Context {
  return attempt('Failed to open device', () => {
    try {
      return device.open({ host: 'inline', ...openOptions(options) });
    } catch (error) {
      const needsThread = error instanceof VerbsError && error.errno === 'ENOSYS' && options.host === undefined;
      if (!needsThread) throw error;
      return device.open({ ...openOptions(options), host: 'thread' });
    }
  });
}

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
