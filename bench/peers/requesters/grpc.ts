import {
  Client,
  credentials,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import { MAX_BYTES, type RequestWay } from './requester.js';

const PATH = '/bench.Echo/Ask';
/** No compression, no limits in the way, and windows of the longest body, as of node:http2 below it. */
const OPTIONS = {
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc.default_compression_algorithm': 0,
  'grpc-node.flow_control_window': 1 << 20,
  'grpc-node.max_session_memory': 1000,
  'grpc.use_local_subchannel_pool': 1,
};

const asItIs = (bytes: Buffer): Buffer => bytes;

/** A call whose messages are bytes: what protobuf costs is not measured. */
const SERVICE: ServiceDefinition = {
  ask: {
    path: PATH,
    requestStream: false,
    responseStream: false,
    requestSerialize: asItIs,
    requestDeserialize: asItIs,
    responseSerialize: asItIs,
    responseDeserialize: asItIs,
  },
};

export const grpc: RequestWay = {
  serve: (address) => {
    const memory = Buffer.alloc(MAX_BYTES);
    const server = new Server(OPTIONS);
    const ask: UntypedHandleCall = (
      { request }: { readonly request: Buffer },
      answer: (error: null, body: Buffer) => void,
    ) => answer(null, memory.subarray(0, request.length));
    server.addService(SERVICE, { ask });
    return new Promise((resolve, reject) =>
      server.bindAsync(`${address}:0`, ServerCredentials.createInsecure(), (error, port) => {
        if (error === null) resolve(String(port));
        else reject(error);
      }),
    );
  },
  connect: async (place) => {
    const client = new Client(place, credentials.createInsecure(), OPTIONS);
    await new Promise<void>((resolve, reject) =>
      client.waitForReady(Date.now() + 10_000, (error) => (error === undefined ? resolve() : reject(error))),
    );
    return {
      request: (body) =>
        new Promise((resolve, reject) => {
          client.makeUnaryRequest(
            PATH,
            asItIs,
            asItIs,
            Buffer.from(body.buffer, body.byteOffset, body.length),
            (error, answer) => {
              if (error !== null) reject(error);
              else if (answer === undefined) reject(new Error('an answer of nothing'));
              else resolve(answer);
            },
          );
        }),
    };
  },
};
