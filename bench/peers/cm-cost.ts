/** What the connection manager keeps of a connection: `cm-cost COUNT` makes so many and reports, as a process of its own. */
import { cmDeviceOf } from '../../src/api/provider/index.js';
import { CmEventType, PortSpace, QpType } from '../../src/entry/index.js';
import { SimulatedCluster } from '../../src/entry/sim.js';

const CALL = 'cm-cost';
const PORT = 7471;
/** Less than may wait at a listener. */
const AT_A_TIME = 500;
/** Long enough in virtual time for requests and answers to pass. */
const PASSING_US = 10_000;

const count = Number(process.argv[2]);
const cluster = new SimulatedCluster({ seed: 1 });
const [active, passive] = ['10.0.0.1', '10.0.0.2'].map((address) => cmDeviceOf(cluster.open(address), CALL));
const parameters = {
  privateData: new Uint8Array(0),
  responderResources: 1,
  initiatorDepth: 1,
  flowControl: false,
  rnrRetryCount: 7,
};
/** Queue pairs that the connection manager does not move, and which need not exist: what is measured is its memory alone. */
const qp = (qpNum: number): { qpNum: number; qpType: QpType; srq: boolean; managed: boolean } => ({
  qpNum,
  qpType: QpType.RC,
  srq: false,
  managed: false,
});

function pass(): void {
  cluster.run(cluster.nowUs + PASSING_US);
}

function connectAll(from: number, to: number): void {
  for (let n = from; n < to; n += 1) {
    const id = active.execute(CALL, 'cmCreateId', { portSpace: PortSpace.TCP });
    const destination = passive.gid;
    const request = { ...parameters, id, destination, port: PORT, qp: qp(n), retryCount: 7, trafficClass: 0 };
    active.execute(CALL, 'cmConnect', request);
  }
  pass();
  for (const { id } of passive.takeEvents()) passive.execute(CALL, 'cmAccept', { ...parameters, id, qp: qp(id) });
  pass();
  for (const { id } of active.takeEvents()) active.execute(CALL, 'cmEstablish', id);
  pass();
  const established = passive.takeEvents().filter(({ type }) => type === CmEventType.ESTABLISHED).length;
  if (established !== to - from) throw new Error(`${established} of ${to - from} connections were established`);
}

function bytesInUse(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

const listener = passive.execute(CALL, 'cmCreateId', { portSpace: PortSpace.TCP });
passive.execute(CALL, 'cmBind', { id: listener, port: PORT, reuseAddr: false });
passive.execute(CALL, 'cmListen', { id: listener, backlog: 0 });
connectAll(0x10, 0x10 + AT_A_TIME);
const before = bytesInUse();
for (let done = 0; done < count; done += AT_A_TIME) connectAll(0x1000 + done, 0x1000 + done + AT_A_TIME);
const ends = 2 * count;
const kib = (bytesInUse() - before) / ends / 1024;
process.once('message', () => process.send?.({ samples: [kib] }));
