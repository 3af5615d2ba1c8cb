import { type Device, getDeviceList } from '../index.js';
import { ToolError } from './errors.js';

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
