/** `no-native ADDRESS ADDRESS ADDRESS`, with VERBENA_NATIVE=off: uses two devices and reports how that went. */
import { openDevice, SendFlags, VerbsError, WrOpcode } from '../../../../entry/index.js';
import { connect, drainOne, makeSide, pattern } from '../../../../providers/soft/test/support/pair.js';

const [first, second, third] = process.argv.slice(2);
const warnings: string[] = [];
const warn = (text: string): number => warnings.push(text);

function refusalOf(action: () => void): string {
  try {
    action();
    return 'no error';
  } catch (error) {
    return error instanceof VerbsError ? error.message : `not a VerbsError: ${String(error)}`;
  }
}

const inline = refusalOf(() => openDevice({ host: 'inline', address: third, warn }).close());
const [a, b] = [first, second].map((address) => makeSide(openDevice({ address, warn })));
connect(a.qp, { qpNum: b.qp.qpNum, dgid: b.context.queryGid(1, 0) });
connect(b.qp, { qpNum: a.qp.qpNum, dgid: a.context.queryGid(1, 0) });

const LENGTH = 10_000;
const rdma = { remoteAddr: b.mr.addr, rkey: b.mr.rkey };
const sendFlags = SendFlags.SIGNALED;
a.mr.bytes.set(pattern(LENGTH));
b.qp.postRecv({ sgList: [b.mr.sge(20_000, 100)] });
a.qp.postSend([
  { opcode: WrOpcode.RDMA_WRITE, sendFlags, sgList: [a.mr.sge(0, LENGTH)], rdma },
  { opcode: WrOpcode.RDMA_READ, sendFlags, sgList: [a.mr.sge(20_000, LENGTH)], rdma },
  { opcode: WrOpcode.SEND, sendFlags, sgList: [a.mr.sge(0, 100)] },
]);
const completed = [drainOne(a.cq), drainOne(a.cq), drainOne(a.cq)].map(({ status }) => status);
const read = Buffer.compare(a.mr.bytes.subarray(0, LENGTH), a.mr.bytes.subarray(20_000, 20_000 + LENGTH)) === 0;
const register = refusalOf(() => a.pd.regMr(new ArrayBuffer(64)).dereg());

// Awaiting works as well.
b.qp.postRecv({});
b.cq.poll(100);
b.cq.reqNotify();
const event = b.channel[Symbol.asyncIterator]().next();
a.qp.postSend({ opcode: WrOpcode.SEND });
await event;
a.context.close();
b.context.close();
process.send?.({ inline, completed, read, register, warnings });
process.disconnect();
