/** A worker that has a client of a NIC which its parent shares: does what it is told, one word at a time. */
import { parentPort, workerData } from 'node:worker_threads';
import {
  CmEventType,
  type CmId,
  type Context,
  createEventChannel,
  createId,
  type EventChannel,
  openDevice,
  PortSpace,
  SendFlags,
  type SharedDevice,
  VerbsError,
  WrOpcode,
} from '../../../../../entry/index.js';
import { next } from '../../../../../api/rdmacm/test/support.js';
import { connect, drainOne, makeSide, pattern, type Side } from '../../../../../providers/soft/test/support/pair.js';

export type Order =
  | { readonly what: 'open' }
  | { readonly what: 'connect'; readonly qpNum: number; readonly dgid: Uint8Array }
  | { readonly what: 'write'; readonly remoteAddr: bigint; readonly rkey: number; readonly length: number }
  | { readonly what: 'register' }
  | { readonly what: 'listen'; readonly port: number }
  | { readonly what: 'accept' }
  | { readonly what: 'close' }
  | { readonly what: 'post for ever'; readonly remoteAddr: bigint; readonly rkey: number };

const device = workerData as SharedDevice; // what the tests hand over
let context: Context | undefined;
let side: Side | undefined;
let channel: EventChannel;
let listener: CmId;

function own(): Side {
  if (side === undefined) throw new Error('not open');
  return side;
}

function write(remoteAddr: bigint, rkey: number, length: number): void {
  const { qp, mr } = own();
  const rdma = { remoteAddr, rkey };
  qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SendFlags.SIGNALED, sgList: [mr.sge(0, length)], rdma });
}

function obey(order: Order): unknown {
  switch (order.what) {
    case 'open':
      context = openDevice({ device });
      side = makeSide(context);
      return { qpNum: side.qp.qpNum, address: context.address };
    case 'connect':
      connect(own().qp, order);
      return undefined;
    case 'write':
      own().mr.bytes.set(pattern(order.length));
      write(order.remoteAddr, order.rkey, order.length);
      return drainOne(own().cq).status;
    case 'listen':
      channel = createEventChannel({ contexts: [own().context] });
      listener = createId(channel, PortSpace.TCP);
      listener.bindAddr({ port: order.port });
      listener.listen();
      return undefined;
    case 'accept': {
      const request = next(channel, CmEventType.CONNECT_REQUEST).id;
      request.createQp();
      request.accept();
      next(channel, CmEventType.ESTABLISHED);
      return undefined;
    }
    case 'register':
      return own().pd.regMr(new Uint8Array(64)).length;
    case 'close':
      context?.close();
      return undefined;
    case 'post for ever':
      parentPort?.postMessage({ said: 'posting' });
      for (;;) {
        write(order.remoteAddr, order.rkey, 1000);
        drainOne(own().cq);
      }
  }
}

parentPort?.on('message', (order: Order) => {
  try {
    parentPort?.postMessage({ said: obey(order) });
  } catch (error) {
    parentPort?.postMessage({ refused: error instanceof VerbsError ? error.errno : String(error) });
  }
});
