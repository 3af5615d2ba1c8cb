import { command } from '../command.js';
import { deviceLimits } from '../device-limits.js';
import { Structs } from '../structs.js';
import type { GuestContext } from '../guest-context.js';

const { EMPTY, GET_CONTEXT, QUERY_DEVICE, QUERY_DEVICE_EX, QUERY_PORT } = Structs;

/** The fields of a device's attributes have the names that our API has, and values of its own where a program gets less. */
function attributes(file: GuestContext) {
  const { fwVer, pageSizeCap, ...attr } = file.context.queryDevice();
  return { ...attr, ...deviceLimits(attr), pageSizeCap: BigInt(pageSizeCap) };
}

export const deviceCommands = [
  command({
    name: 'GET_CONTEXT',
    number: 0,
    request: EMPTY,
    answer: GET_CONTEXT.answer,
    act: (file, _, caller) => ({
      answer: { asyncFd: caller.giveFd(file.asyncEvents.fd), numCompVectors: file.context.numCompVectors },
    }),
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
