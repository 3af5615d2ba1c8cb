import assert from 'node:assert/strict';
import { type CmDevice, cmDeviceOf } from '../../../../api/provider/index.js';
import { type CmEvent as CmDeviceEvent } from '../../index.js';
import { CmEventType, ipFromGid, nameOf, PortSpace } from '../../../ibta/index.js';
import {
  AccessFlags,
  alloc,
  type Context,
  type Cq,
  type Mr,
  type Pd,
  type Qp,
  QpState,
  QpType,
  SendFlags,
  type WorkCompletion,
  WrOpcode,
} from '../../../../entry/index.js';
import { PORT } from './two-devices.js';
import { PARAMETERS } from './cm-device.js';

/** Longer than anything on one machine takes; a test that waits so long has found a fault. */
const PATIENCE_US = 30_000_000;
const BYTES = 4096;

/** A real device with its connection manager, and a program on it. */
export class CmSide {
  readonly cm: CmDevice;
  readonly pd: Pd;
  readonly cq: Cq;
  readonly mr: Mr;
  readonly #pending: CmDeviceEvent[] = [];

  constructor(readonly context: Context) {
    this.cm = cmDeviceOf(context, 'test');
    this.pd = context.allocPd();
    this.cq = context.createCq({ cqe: 64 });
    this.mr = this.pd.regMr(alloc(BYTES), AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
  }

  get ip(): string {
    return ipFromGid(this.cm.gid);
  }

  /** A queue pair in INIT, as programs hand it to the connection manager. */
  makeQp(): Qp {
    const qp = this.pd.createQp({ qpType: QpType.RC, sendCq: this.cq, recvCq: this.cq });
    const qpAccessFlags = AccessFlags.REMOTE_WRITE;
    qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags });
    return qp;
  }

  listen(port = PORT): number {
    const id = this.cm.execute('test', 'cmCreateId', { portSpace: PortSpace.TCP });
    this.cm.execute('test', 'cmBind', { id, port, reuseAddr: false });
    this.cm.execute('test', 'cmListen', { id, backlog: 0 });
    return id;
  }

  connect(to: CmSide, qp: Qp): number {
    const id = this.cm.execute('test', 'cmCreateId', { portSpace: PortSpace.TCP });
    const names = { id, qp: asManaged(qp), destination: to.cm.gid, port: PORT };
    this.cm.execute('test', 'cmConnect', { ...PARAMETERS, ...names, retryCount: 7, trafficClass: 0 });
    return id;
  }

  accept(id: number, qp: Qp): void {
    this.cm.execute('test', 'cmAccept', { ...PARAMETERS, id, qp: asManaged(qp) });
  }

  disconnect(id: number): void {
    this.cm.execute('test', 'cmDisconnect', id);
  }

  destroy(id: number): void {
    this.cm.execute('test', 'cmDestroyId', id);
  }

  /** The next event, which is of that type; waits for it. */
  await(type: CmEventType): CmDeviceEvent {
    for (;;) {
      const event = this.#pending.shift();
      if (event !== undefined) {
        assert.equal(nameOf(CmEventType, event.type), nameOf(CmEventType, type));
        return event;
      }
      this.#pending.push(...this.cm.takeEvents());
      if (this.#pending.length === 0) this.cm.wait(PATIENCE_US);
    }
  }

  /** Writes `text` into the peer's memory, and gives the completion. */
  write(qp: Qp, text: string, peer: CmSide): WorkCompletion {
    this.mr.bytes.set(Buffer.from(text));
    qp.postSend({
      opcode: WrOpcode.RDMA_WRITE,
      sendFlags: SendFlags.SIGNALED,
      sgList: [this.mr.sge(0, text.length)],
      rdma: { remoteAddr: peer.mr.addr, rkey: peer.mr.rkey },
    });
    for (;;) {
      const done = this.cq.poll(1);
      if (done.length > 0) return done[0];
    }
  }

  /** What the peer wrote. */
  read(length: number): string {
    return Buffer.from(this.mr.bytes.slice(0, length)).toString();
  }
}

function asManaged({ qpNum }: Qp): { qpNum: number; qpType: typeof QpType.RC; srq: false; managed: true } {
  return { qpNum, qpType: QpType.RC, srq: false, managed: true };
}

export interface RealEnd {
  readonly id: number;
  readonly qp: Qp;
}

/** Has `a` connect to `b`, which listens. */
export function connectSides(a: CmSide, b: CmSide): { readonly active: RealEnd; readonly passive: RealEnd } {
  const qp = a.makeQp();
  const id = a.connect(b, qp);
  const { id: childId } = b.await(CmEventType.CONNECT_REQUEST);
  const childQp = b.makeQp();
  b.accept(childId, childQp);
  a.await(CmEventType.ESTABLISHED);
  b.await(CmEventType.ESTABLISHED);
  return { active: { id, qp }, passive: { id: childId, qp: childQp } };
}
