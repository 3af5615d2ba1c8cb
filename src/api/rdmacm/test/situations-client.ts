/**
 * `situations-client ADDRESS SERVER PORT STEP`: connects as far as STEP says, tells so, and does nothing more; to be killed
 * there.
 */
import {
  type CmEvent,
  CmEventType,
  createEventChannel,
  createId,
  openDevice,
  PortSpace,
  QpState,
  QpType,
} from '../../../entry/index.js';
import { next } from './support.js';
import { type Step, STEPS } from './situations-steps.js';

const [address, server, port, step] = process.argv.slice(2);
const context = openDevice({ address });
const channel = createEventChannel({ contexts: [context] });
const id = createId(channel, PortSpace.TCP);

/** A queue pair of the program's own, so that nothing is confirmed before the program does so. */
function connectByHand(): CmEvent {
  const pd = context.allocPd();
  const cq = context.createCq({ cqe: 4 });
  const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq });
  qp.modify(id.initQpAttr(QpState.INIT));
  id.connect({ qpNum: qp.qpNum, qpType: QpType.RC });
  return next(channel, CmEventType.CONNECT_RESPONSE);
}

/** What is done after the one before it. */
const actions: Readonly<Record<Step, () => void>> = {
  resolved: () => {
    id.resolveAddr({ host: server, port: Number(port) });
    next(channel, CmEventType.ADDR_RESOLVED);
    id.resolveRoute();
    next(channel, CmEventType.ROUTE_RESOLVED);
  },
  answered: () => connectByHand(),
  asked: () => {
    id.createQp();
    id.connect();
  },
  established: () => next(channel, CmEventType.ESTABLISHED),
  parting: () => id.disconnect(),
};

for (const one of STEPS) {
  if (one === 'answered' && step !== 'answered') continue;
  actions[one]();
  if (one === step) break;
}
process.send?.(step);
setInterval(() => undefined, 1000);
