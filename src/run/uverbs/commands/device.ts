import { command } from '../command.js';
import { deviceLimits } from '../device-limits.js';
import { Refusal } from '../../refusal.js';
import { Structs } from '../structs.js';
import type { GuestContext } from '../guest-context.js';

const { EMPTY, GET_CONTEXT, QUERY_DEVICE, QUERY_DEVICE_EX, QUERY_PORT } = Structs;

/** A version as rxe's provider takes it apart: major, minor and sub-minor number, of 16 bits each. */
function firmwareNumber(version: string): bigint {
  const [major = 0, minor = 0, subMinor = 0] = version.split('.').map((part) => Number.parseInt(part, 10) & 0xffff);
  return (BigInt(major) << 32n) | (BigInt(minor) << 16n) | BigInt(subMinor);
}

/** The fields of a device's attributes have the names that our API has, and values of its own where a program gets less. */
function attributes(file: GuestContext) {
  const { fwVer, pageSizeCap, ...attr } = file.context.queryDevice();
  return { ...attr, ...deviceLimits(attr), fwVer: firmwareNumber(fwVer), pageSizeCap: BigInt(pageSizeCap) };
}

export const deviceCommands = [
  command({
    name: 'GET_CONTEXT',
    number: 0,
    request: EMPTY,
    answer: GET_CONTEXT.answer,
    act: (file, _, caller) => {
      if (file.hasContext) throw new Refusal('EINVAL', 'this descriptor has a context already');
      const asyncFd = caller.giveFd(file.asyncEvents.fd);
      file.hasContext = true;
      return {
        answer: { asyncFd, numCompVectors: file.context.numCompVectors },
        undo: () => void (file.hasContext = false),
      };
    },
  }),
  command({
    name: 'QUERY_DEVICE',
    repeatable: true,
    number: 1,
    request: EMPTY,
    answer: QUERY_DEVICE.answer,
    act: (file) => ({ answer: attributes(file) }),
  }),
  command({
    name: 'QUERY_DEVICE_EX',
    repeatable: true,
    number: 1,
    extended: true,
    request: QUERY_DEVICE_EX.request,
    answer: QUERY_DEVICE_EX.answer,
    // Neither paging on demand nor timestamps: what completions here tell has no room for them.
    act: (file) => ({ answer: attributes(file) }),
  }),
  command({
    name: 'QUERY_PORT',
    repeatable: true,
    number: 2,
    request: QUERY_PORT.request,
    answer: QUERY_PORT.answer,
    act: (file, { portNum }) => {
      const { portCapFlags2, activeSpeedEx, ...attr } = file.context.queryPort(portNum);
      return { answer: attr };
    },
  }),
];
