import {
  AccessFlags,
  alloc,
  type CmId,
  CmOption,
  type Context,
  type Mr,
  type Pd,
  PortSpace,
  type Qp,
  QpType,
  WcStatus,
  wcStatusStr,
  WrOpcode,
} from '../../../entry/index.js';
import { Completions } from '../common/completions.js';
import { verbsOf } from '../common/hosting.js';
import {
  messagesOf,
  nodeCommand,
  type NodeFlags,
  numberOption,
  portSpaceOption,
  setTos,
} from '../common/node-flags.js';
import type { Node } from '../common/nodes.js';
import { MAY_BE_GONE } from '../common/silence.js';
import { attempt, ToolError } from '../../kit/errors.js';
import type { Command } from 'commander';

export interface UcmatoseFlags extends NodeFlags {
  readonly p: number;
  readonly m?: true;
  readonly a?: number;
}

const PORT = 7471;

export function ucmatoseCommand(): Command {
  const description =
    'Make reliable connections between two hosts by rdma_cm, exchange messages over each, and end them;\n' +
    'speaks with the C tool of the same name.';
  return nodeCommand('ucmatose', description)
    .addOption(portSpaceOption({ tcp: PortSpace.TCP, ib: PortSpace.IB }))
    .addOption(numberOption('-p <port_number>', 'port of the server', 1, 65535, PORT))
    .option('-m', 'have the connections report to another event channel before they end')
    .addOption(numberOption('-a <ack_timeout>', 'how long the peer may take to acknowledge, in 4.096 us * 2^n', 0, 31))
    .addHelpText(
      'after',
      `
Two shells, one machine:
  verbena ucmatose -b 127.0.0.1                 the server
  verbena ucmatose -s 127.0.0.1                 the client

With a host that runs Soft-RoCE and ucmatose -c 10 (here its address is 192.0.2.7):
  verbena ucmatose -s 192.0.2.7 -c 10`,
    );
}

/** What the client names; the server takes what the request has. */
const CONN_PARAM = { responderResources: 1, initiatorDepth: 1, retryCount: 5, rnrRetryCount: 0 };

interface Objects {
  readonly context: Context;
  readonly pd: Pd;
  readonly qp: Qp;
  readonly sends: Completions;
  readonly receives: Completions;
  readonly mr: Mr | undefined;
}

/** A reliable connection, over which a number of messages goes each way. */
export class StreamNode implements Node {
  readonly id: CmId;
  readonly #flags: UcmatoseFlags;
  #objects: Objects | undefined;

  constructor(id: CmId, flags: UcmatoseFlags) {
    this.id = id;
    this.#flags = flags;
  }

  resolved(): void {
    setTos(this.id, this.#flags);
    this.#setAckTimeout();
  }

  connect(): void {
    this.#prepare();
    attempt('cmatose: failure connecting', () => this.id.connect(CONN_PARAM));
  }

  accept(): void {
    this.#setAckTimeout();
    this.#prepare();
    attempt('cmatose: failure accepting', () => this.id.accept());
  }

  established(): void {
    // Nothing of what the event says is needed.
  }

  send(): void {
    const { qp, mr } = this.#ready();
    if (mr === undefined) return;
    attempt('failed to post sends', () => {
      for (let i = 0; i < messagesOf(this.#flags).count; i += 1) {
        qp.postSend({ opcode: WrOpcode.SEND, sgList: [mr.sge()] });
      }
    });
  }

  async sent(): Promise<void> {
    await this.#complete(this.#ready().sends);
  }

  async received(): Promise<void> {
    await this.#complete(this.#ready().receives);
  }

  async close(): Promise<void> {
    const objects = this.#objects;
    if (objects === undefined) return;
    this.id.destroyQp();
    await objects.sends.close();
    await objects.receives.close();
    objects.mr?.dereg();
    objects.pd.dealloc();
  }

  #setAckTimeout(): void {
    const { a: timeout } = this.#flags;
    if (timeout !== undefined) this.id.setOption(CmOption.ACK_TIMEOUT, timeout);
  }

  #prepare(): void {
    const { count, sizeBytes } = messagesOf(this.#flags);
    const context = verbsOf(this.id);
    const depth = Math.max(1, count);
    const pd = attempt('cmatose: unable to allocate PD', () => context.allocPd());
    const [sends, receives] = attempt('cmatose: unable to create CQ', () => [
      new Completions(context, depth, MAY_BE_GONE),
      new Completions(context, depth, MAY_BE_GONE),
    ]);
    const qp = attempt('cmatose: unable to create QP', () =>
      this.id.createQp(pd, {
        qpType: QpType.RC,
        sendCq: sends.cq,
        recvCq: receives.cq,
        sqSigAll: true,
        cap: { maxSendWr: depth, maxRecvWr: depth, maxSendSge: 1, maxRecvSge: 1 },
      }),
    );
    const mr =
      count === 0 ? undefined : attempt('failed to reg MR', () => pd.regMr(alloc(sizeBytes), AccessFlags.LOCAL_WRITE));
    this.#objects = { context, pd, qp, sends, receives, mr };
    if (mr === undefined) return;
    attempt('failed to post receives', () => {
      for (let i = 0; i < count; i += 1) qp.postRecv({ sgList: [mr.sge()] });
    });
  }

  async #complete(completions: Completions): Promise<void> {
    for (let done = 0; done < messagesOf(this.#flags).count; done += 1) {
      const completion = await completions.next();
      if (completion === undefined || completion.status === WcStatus.SUCCESS) continue;
      if (completion.status === WcStatus.WR_FLUSH_ERR) {
        throw new ToolError('The peer disconnected before all messages were through; see there why.');
      }
      const { status } = completion;
      throw new ToolError(`${wcStatusStr(status)} (${status}): ${this.#ready().context.explain(completion)}`);
    }
  }

  #ready(): Objects {
    if (this.#objects === undefined) throw new ToolError('cmatose: the connection has no queue pair');
    return this.#objects;
  }
}
