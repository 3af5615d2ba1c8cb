import { type CmArgument, type CmDevice, cmDeviceOf, type CmValue, type CmVerb } from '../../../provider/index.js';
import { RDMA_UDP_QKEY } from '../../../../device/ibta/index.js';
import { type Context, type Cq, type Pd, type Qp, QpState, QpType } from '../../../../entry/index.js';
import { type SimulatedCluster } from '../../../../entry/sim.js';
import { type Holdings, Inside } from './inside.js';

const CQ_ENTRIES = 64;

/** A host of the simulated network, with what a program on it has that calls the connection manager itself. */
export class Machine {
  readonly context: Context;
  readonly cm: CmDevice;
  readonly pd: Pd;
  readonly cq: Cq;
  /** Which messages have met which states of connections here. */
  readonly met = new Set<string>();
  readonly #inside: Inside;

  constructor(
    cluster: SimulatedCluster,
    readonly address: string,
  ) {
    this.context = cluster.open(address);
    this.cm = cmDeviceOf(this.context, 'test');
    this.#inside = new Inside(this.context);
    this.#inside.watch((meeting) => this.met.add(meeting));
    this.pd = this.context.allocPd();
    this.cq = this.context.createCq({ cqe: CQ_ENTRIES });
  }

  command<V extends CmVerb>(verb: V, argument: CmArgument<V>): CmValue<V> {
    return this.cm.execute('test', verb, argument);
  }

  /** A queue pair in INIT, or a datagram queue pair that can send. */
  makeQp(qpType: QpType): Qp {
    const cap = { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 1, maxRecvSge: 1 };
    const qp = this.pd.createQp({ qpType, sendCq: this.cq, recvCq: this.cq, cap, sqSigAll: true });
    if (qpType !== QpType.UD) {
      qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
      return qp;
    }
    qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: RDMA_UDP_QKEY });
    qp.modify({ qpState: QpState.RTR });
    qp.modify({ qpState: QpState.RTS, sqPsn: 0 });
    return qp;
  }

  /** Makes room for what completes next. */
  drain(): void {
    this.cq.poll(CQ_ENTRIES);
  }

  get counters(): Record<string, number> {
    return this.#inside.counters;
  }

  get holdings(): Holdings {
    return this.#inside.holdings;
  }

  /** Ends what the program has; the device can be closed then. */
  close(): void {
    this.cq.destroy();
    this.pd.dealloc();
    this.context.close();
  }
}
