/** How a NIC lives on this machine: in the caller's thread or in one of its own; and how a program opens it. */
export { alloc } from './alloc.js';
export { Chores } from './chores.js';
export { getDeviceList, openDevice } from './device.js';
