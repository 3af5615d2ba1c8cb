import { alloc } from '../../../src/entry/index.js';
import { connect, listen, type Scheme, type XioParts, type XioRequestOptions } from '../../../src/entry/xio.js';
import { MAX_BYTES, type RequestWay } from './requester.js';

/** More than the requests have that are under way. */
const QUEUES = { queueMessages: 1024, queueBytes: 2 ** 28, maxBodyBytes: MAX_BYTES };

/** By sessions of `verbena/xio`. */
export const xioOver = (transport: Scheme): RequestWay => ({
  serve: async (host) => {
    const server = await listen({ transport, host, ...QUEUES });
    const memory = alloc(MAX_BYTES);
    let answer: XioParts & { readonly body: Uint8Array } = { body: memory };
    const follow = async (): Promise<void> => {
      for await (const session of server)
        session
          .on('request', ({ body: { length } }) => {
            if (answer.body.length !== length) answer = { body: memory.subarray(0, length) };
            return answer;
          })
          .accept();
    };
    void follow();
    return String(server.address.port);
  },
  connect: async (place, localAddress, { bytes, depth }) => {
    const session = await connect({ url: `${transport}://${place}`, localAddress, ...QUEUES });
    const memory = alloc(depth * bytes);
    const options = Array.from({ length: depth }, (_, lane): XioRequestOptions => ({
      into: memory.subarray(lane * bytes, (lane + 1) * bytes),
    }));
    return {
      request: async (body, lane) => {
        const response = await session.request(undefined, body, options[lane]);
        response[Symbol.dispose]();
        return response.body;
      },
    };
  },
});
