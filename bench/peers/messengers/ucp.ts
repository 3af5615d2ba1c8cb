import { openDevice } from '../../../src/entry/index.js';
import { type UcpEndpoint, UcpWorker } from '../../../src/entry/ucp.js';
import type { Messenger, Talker } from './messenger.js';

const TO_SERVER = 1n;
const TO_CLIENT = 2n;
const LONGEST_BYTES = 4096;

/** Tags of one client: there are no others. */
function talkerOf(worker: UcpWorker, endpoint: UcpEndpoint, out: bigint, into: bigint): Talker {
  const buffer = new Uint8Array(LONGEST_BYTES);
  return {
    send: (message) => endpoint.tagSend(message, out),
    receive: async () => (await worker.tagReceive(buffer, into)).length,
  };
}

export const ucp: Messenger = {
  serve: (address, onTalker) => {
    const worker = new UcpWorker(openDevice({ address }));
    const listener = worker.listen({}, (endpoint) => onTalker(talkerOf(worker, endpoint, TO_CLIENT, TO_SERVER)));
    return Promise.resolve(listener.address.port);
  },
  connect: async (host, port, address) => {
    const worker = new UcpWorker(openDevice({ address }));
    return talkerOf(worker, await worker.connect({ host, port }), TO_SERVER, TO_CLIENT);
  },
};
