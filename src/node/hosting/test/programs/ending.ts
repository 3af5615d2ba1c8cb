/** `ending HOST ADDRESS WAY [close]`: opens a device, uses it, and ends in the way that is named. */
import { openDevice, SendFlags, WrOpcode } from '../../../../entry/index.js';
import { connect, drainOne, makeSide } from '../../../../providers/soft/test/support/pair.js';

const [host, address, way, close] = process.argv.slice(2);
const context = openDevice({ host: host === 'inline' ? 'inline' : 'thread', address });
const { qp, mr, cq, channel } = makeSide(context);
connect(qp, { qpNum: qp.qpNum, dgid: context.queryGid(1, 0) });
qp.postRecv({ sgList: [mr.sge(0, 64)] });
qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [mr.sge(64, 8)] });
drainOne(cq);
drainOne(cq);
if (close === 'close') context.close();

switch (way) {
  case 'normal':
    break;
  case 'exit':
    setImmediate(() => process.exit(7));
    break;
  case 'error':
    setImmediate(() => {
      throw new Error('on purpose');
    });
    break;
  case 'unhandled':
    void Promise.reject(new Error('on purpose'));
    break;
  case 'exit-while-awaiting':
    void channel[Symbol.asyncIterator]().next();
    setImmediate(() => process.exit(7));
    break;
  case 'await-then-normal': {
    // Nothing awaited is left once the wait was answered.
    qp.postRecv({ sgList: [mr.sge(0, 64)] });
    cq.reqNotify();
    const event = channel[Symbol.asyncIterator]().next();
    qp.postSend({ opcode: WrOpcode.SEND });
    await event;
    break;
  }
}
