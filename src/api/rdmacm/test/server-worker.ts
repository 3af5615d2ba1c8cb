/** A thread that serves one connection by calls that wait, and answers one message. */
import { parentPort, workerData } from 'node:worker_threads';
import { alloc, createEp, getAddrInfo, openDevice, SendFlags } from '../../../entry/index.js';

// What the test gives.
const { address, port } = workerData as { address: string; port: number };
const context = openDevice({ host: 'thread', address });
const [info] = await getAddrInfo(address, port, { passive: true });
const listener = createEp(info, undefined, {}, { contexts: [context] });
listener.listen();
parentPort?.postMessage('ready');
const id = listener.getRequest();
const mr = id.regMsgs(alloc(64));
id.postRecv(1, mr.sge(0, 32));
id.accept();
const { byteLen } = id.getRecvComp();
parentPort?.postMessage(Buffer.from(mr.bytes).toString('utf8', 0, byteLen));
mr.bytes.set(Buffer.from('pong'), 32);
id.postSend(2, mr.sge(32, 4), SendFlags.SIGNALED);
id.getSendComp();
id.disconnect();
id.destroyEp();
listener.destroyEp();
context.close();
