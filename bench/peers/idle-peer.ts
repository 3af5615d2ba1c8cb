/** The process of `measure/idle.ts`: `idle-peer HOST ADDRESS` connects a device to itself, and does nothing more. */
import { Endpoint } from './endpoint.js';

const [host, address] = process.argv.slice(2);
const endpoint = new Endpoint(host === 'inline' ? 'inline' : 'thread', address);
endpoint.connect(endpoint.info);
/** By then what starting has left over is done. */
const SETTLED_MS = 500;
// On and on: without a listener the process would end.
process.on('message', () => setTimeout(() => process.send?.({}), SETTLED_MS));
