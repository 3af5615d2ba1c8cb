import {
  AccessFlags,
  type Ah,
  alloc,
  type CmEvent,
  type CmId,
  type Context,
  type Mr,
  mtuBytes,
  type Pd,
  PortSpace,
  type Qp,
  QpType,
  SendFlags,
  WcStatus,
  wcStatusStr,
  type WorkCompletion,
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
import { TestFailure } from '../common/status.js';
import { attempt, ToolError } from '../../kit/errors.js';
import type { Command } from 'commander';

export interface UdaddyFlags extends NodeFlags {
  /** The port space by its number: what -P says by name. */
  readonly p?: number;
}

/** The C tool knows no option for it. */
export const PORT = 7174;

export function udaddyCommand(): Command {
  const description =
    'Find the datagram queue pairs of another host by rdma_cm, and exchange datagrams with each;\n' +
    'speaks with the C tool of the same name.';
  return nodeCommand('udaddy', description)
    .addOption(portSpaceOption({ udp: PortSpace.UDP, ipoib: PortSpace.IPOIB }))
    .addOption(numberOption('-p <port_space>', 'port space by its number: 0x111 (UDP) or 0x2 (IPoIB)', 0, 0xffff))
    .addHelpText(
      'after',
      `
Two shells, one machine:
  verbena udaddy -b 127.0.0.1                 the server
  verbena udaddy -s 127.0.0.1                 the client

With a host that runs Soft-RoCE and udaddy (here its address is 192.0.2.7):
  verbena udaddy -s 192.0.2.7`,
    );
}

const MEANING =
  'a datagram may be lost, which nobody repeats here, or the peer may be gone: end this side by Ctrl-C and start again';

/** What the C tool returns for a message that does not fit into a datagram (EINVAL). */
const TOO_LONG = -22;

/** What every receive request needs room for, before the message (protocol/packets.md 1.6). */
const HEADER_BYTES = 40;

interface Objects {
  readonly context: Context;
  readonly pd: Pd;
  readonly qp: Qp;
  readonly completions: Completions;
  readonly mr: Mr | undefined;
}

interface Destination {
  readonly ah: Ah;
  readonly remoteQpn: number;
  readonly remoteQkey: number;
}

/** A datagram queue pair, and the peer's that it exchanges a number of messages with. */
export class DatagramNode implements Node {
  readonly id: CmId;
  readonly #flags: UdaddyFlags;
  #objects: Objects | undefined;
  #destination: Destination | undefined;

  constructor(id: CmId, flags: UdaddyFlags) {
    this.id = id;
    this.#flags = flags;
  }

  resolved(): void {
    setTos(this.id, this.#flags);
  }

  connect(): void {
    this.#prepare();
    attempt('udaddy: failure connecting', () => this.id.connect());
  }

  accept(): void {
    const { qp } = this.#prepare();
    attempt('udaddy: failure accepting', () => this.id.accept({ qpNum: qp.qpNum }));
  }

  /** The peer has told its queue pair. */
  established({ param: { ud } }: CmEvent): void {
    const { pd } = this.#ready();
    if (ud === undefined) return;
    const ah = attempt('udaddy: failure creating address handle', () => pd.createAh(ud.ahAttr));
    this.#destination = { ah, remoteQpn: ud.qpNum, remoteQkey: ud.qkey };
  }

  /** @param signaled whether {@link completed} is to wait for these */
  send(signaled: boolean): void {
    const { qp, mr } = this.#ready();
    if (mr === undefined || this.#destination === undefined) return;
    const request = {
      opcode: WrOpcode.SEND_WITH_IMM,
      sendFlags: signaled ? SendFlags.SIGNALED : 0,
      // So that the server learns where its replies go.
      immData: qp.qpNum,
      ud: this.#destination,
      sgList: [mr.sge(0, messagesOf(this.#flags).sizeBytes)],
    } as const;
    attempt('failed to post sends', () => {
      for (let i = 0; i < messagesOf(this.#flags).count; i += 1) qp.postSend(request);
    });
  }

  /** Waits for as many completions as there are messages. The first that comes in tells the server who its client is. */
  async completed(): Promise<void> {
    const { context, completions } = this.#ready();
    for (let done = 0; done < messagesOf(this.#flags).count; done += 1) {
      const completion = await completions.next();
      if (completion === undefined) return;
      const { status } = completion;
      if (status !== WcStatus.SUCCESS) {
        throw new ToolError(`${wcStatusStr(status)} (${status}): ${context.explain(completion)}`);
      }
      this.#destination ??= this.#senderOf(completion);
    }
  }

  async close(): Promise<void> {
    this.#destination?.ah.destroy();
    const objects = this.#objects;
    if (objects === undefined) return;
    this.id.destroyQp();
    await objects.completions.close();
    objects.mr?.dereg();
    objects.pd.dealloc();
  }

  #prepare(): Objects {
    const { count, sizeBytes } = messagesOf(this.#flags);
    const context = verbsOf(this.id);
    this.#refuseLong(context);
    const depth = Math.max(1, count);
    const pd = attempt('udaddy: unable to allocate PD', () => context.allocPd());
    const completions = attempt('udaddy: unable to create CQ', () => new Completions(context, 2 * depth, MEANING));
    const { cq } = completions;
    const qp = attempt('udaddy: unable to create QP', () =>
      this.id.createQp(pd, {
        qpType: QpType.UD,
        sendCq: cq,
        recvCq: cq,
        cap: { maxSendWr: depth, maxRecvWr: depth, maxSendSge: 1, maxRecvSge: 1 },
      }),
    );
    const bytes = HEADER_BYTES + sizeBytes;
    const mr =
      count === 0 ? undefined : attempt('failed to reg MR', () => pd.regMr(alloc(bytes), AccessFlags.LOCAL_WRITE));
    this.#objects = { context, pd, qp, completions, mr };
    if (mr === undefined) return this.#objects;
    attempt('failed to post receives', () => {
      for (let i = 0; i < count; i += 1) qp.postRecv({ sgList: [mr.sge()] });
    });
    return this.#objects;
  }

  #refuseLong(context: Context): void {
    const { count, sizeBytes } = messagesOf(this.#flags);
    const mtu = mtuBytes(context.queryPort(this.id.portNum).activeMtu);
    if (count === 0 || sizeBytes <= mtu) return;
    throw new TestFailure(TOO_LONG, `udaddy: message_size ${sizeBytes} is larger than active mtu ${mtu}`);
  }

  #senderOf(completion: WorkCompletion): Destination | undefined {
    const { pd, qp, mr } = this.#ready();
    if (mr === undefined) return undefined;
    const header = mr.bytes.subarray(0, HEADER_BYTES);
    const ah = attempt('udaddy: failed to create reply AH', () =>
      pd.createAhFromWc(completion, header, this.id.portNum),
    );
    return { ah, remoteQpn: completion.immData, remoteQkey: qp.query().attr.qkey };
  }

  #ready(): Objects {
    if (this.#objects === undefined) throw new ToolError('udaddy: the connection has no queue pair');
    return this.#objects;
  }
}
