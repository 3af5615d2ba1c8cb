import { type Context, type Device, getDeviceList, VerbsError } from '../../entry/index.js';
import { attempt, ToolError } from '../kit/errors.js';
import { type HostingOptions, openOptions } from '../kit/options.js';

/** The named device, or the first one. */
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
