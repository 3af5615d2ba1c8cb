import { Command } from 'commander';
import { type Device, getDeviceList } from '../../entry/index.js';
import { tool, ToolError } from '../kit/errors.js';
import { type HostingOptions, wholeNumber, withHosting } from '../kit/options.js';
import { findDevice, openToAsk } from './devices.js';
import { deviceFacts } from './devinfo/facts.js';
import { formatDeviceInfo } from './devinfo/format.js';

interface DevinfoOptions extends HostingOptions {
  readonly ibDev?: string;
  readonly ibPort?: number;
  readonly list?: true;
  readonly verbose?: true;
  readonly json?: true;
}

// Exit codes as the C tool's: 255 no device, 1 not opened, 4 no such port.
const NO_DEVICE = 255;
const NO_PORT = 4;

function printNames({ json }: DevinfoOptions): void {
  const devices = getDeviceList();
  if (json === true) {
    process.stdout.write(`${JSON.stringify(devices.map(({ name }) => name))}\n`);
    return;
  }
  const names = devices.map((device) => `\t${device.name}\n`).join('');
  process.stdout.write(`${devices.length} HCA${devices.length === 1 ? '' : 's'} found:\n${names}\n`);
}

function describe(device: Device, options: DevinfoOptions): string {
  const context = openToAsk(device, options);
  try {
    if (options.ibPort !== undefined && options.ibPort > context.queryDevice().physPortCnt) {
      throw new ToolError('Invalid port requested for device', NO_PORT);
    }
    const tell = options.json === true ? deviceFacts : formatDeviceInfo;
    return tell(context, options.ibPort, options.verbose === true);
  } finally {
    context.close();
  }
}

export function command(): Command {
  return withHosting(
    new Command('ibv_devinfo')
      .description("Print a device's attributes.")
      .option('-d, --ib-dev <dev>', 'use IB device <dev> (default all devices)')
      .option('-i, --ib-port <port>', 'use port <port> of IB device (default all ports)', wholeNumber(1, 255))
      .option('-l, --list', 'print only the IB devices names')
      .option('-v, --verbose', 'print all the attributes of the IB device(s)')
      .option('--json', 'print one JSON array'),
  ).action(
    tool((options: DevinfoOptions) => {
      if (options.list === true) {
        printNames(options);
        return;
      }
      const { ibDev } = options;
      const devices =
        ibDev === undefined
          ? getDeviceList()
          : [findDevice(ibDev, (name) => new ToolError(`IB device '${name}' wasn't found`, NO_DEVICE))];
      if (devices.length === 0) throw new ToolError('No IB devices found', NO_DEVICE);
      const told = devices.map((device) => describe(device, options));
      process.stdout.write(options.json === true ? `[${told.join(',')}]\n` : told.join(''));
    }),
  );
}
