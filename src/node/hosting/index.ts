/**
 * How a NIC lives on this machine, in the caller's thread or in one of its own, and how a program opens it. To import this
 * is to have the API run in Node, on this machine.
 */
import { useProvider } from '../../api/provider/index.js';
import { useRuntime } from '../../api/runtime/index.js';
import { thisMachine } from './device.js';
import { nodeRuntime } from './node-runtime.js';

useRuntime(nodeRuntime);
useProvider(thisMachine);

export { residentPollFds, sleepAll, turnAll } from './inline/residents.js';
