import {
  type Ah,
  alloc,
  type CmId,
  type Context,
  McJoinFlag,
  type Mr,
  mtuBytes,
  QpCreateFlags,
  SendFlags,
  type SocketAddress,
  type UdParamReceived,
  WcFlags,
  WcStatus,
  wcStatusStr,
  type WorkCompletion,
  WrOpcode,
} from '../../../entry/index.js';
import { verbsOf } from '../common/hosting.js';
import { attempt, ToolError } from '../../kit/errors.js';

/** Room that each datagram needs in front of it for its GRH (protocol/packets.md 1.6). */
const GRH_BYTES = 40;

/** How a queue pair takes part in the group. */
export interface Membership {
  readonly group: SocketAddress;
  readonly sends: boolean;
  readonly sendOnly: boolean;
  /** Whether what is sent from here comes back here. */
  readonly loopback: boolean;
  readonly messages: number;
  readonly sizeBytes: number;
}

/** A queue pair that is to join the group. */
export class Member {
  readonly id: CmId;
  readonly #membership: Membership;
  #mr: Mr | undefined;
  #ah: Ah | undefined;
  #joined: UdParamReceived | undefined;

  constructor(id: CmId, membership: Membership) {
    this.id = id;
    this.#membership = membership;
  }

  /** How datagrams reach the group; undefined until it has joined. */
  get joined(): UdParamReceived | undefined {
    return this.#joined;
  }

  /** Makes the queue pair, ready to receive, and asks to join; the address is resolved or bound. */
  join(): void {
    const { group, sends, sendOnly, messages } = this.#membership;
    this.#refuseLong(verbsOf(this.id));
    this.#createQp();
    if (messages > 0) {
      this.#mr = this.id.regMsgs(alloc(this.#membership.sizeBytes + GRH_BYTES));
      // All into the same memory: what is in a message means nothing.
      for (let i = 0; i < messages && !sends; i += 1) this.id.postRecv(i, this.#mr.sge());
    }
    const joinFlags = sendOnly ? McJoinFlag.SENDONLY_FULLMEMBER : McJoinFlag.FULLMEMBER;
    attempt('mckey: failure joining', () => this.id.joinMulticastEx({ addr: group, joinFlags }));
  }

  /** Takes note of how to send to the group. */
  arrive(joined: UdParamReceived): void {
    const { pd } = this.id;
    if (pd === undefined) throw new ToolError('mckey: the queue pair has no protection domain');
    this.#ah = attempt('mckey: failure creating address handle', () => pd.createAh(joined.ahAttr));
    this.#joined = joined;
  }

  /** Sends all messages, and waits until the device has sent the last. */
  async send(): Promise<void> {
    const { messages, sizeBytes } = this.#membership;
    const { qp } = this.id;
    if (qp === undefined || this.#mr === undefined || this.#ah === undefined || this.#joined === undefined) return;
    const { qpNum: remoteQpn, qkey: remoteQkey } = this.#joined;
    const ud = { ah: this.#ah, remoteQpn, remoteQkey };
    const sgList = [this.#mr.sge(0, sizeBytes)];
    for (let i = 0; i < messages; i += 1) {
      const sendFlags = i === messages - 1 ? SendFlags.SIGNALED : 0;
      const wr = { wrId: i, opcode: WrOpcode.SEND_WITH_IMM, sendFlags, sgList, immData: qp.qpNum, ud } as const;
      attempt('failed to post sends', () => qp.postSend(wr));
    }
    this.#check(await this.id.nextSendComp());
  }

  /** Waits for as many messages as are to come; counts them by the number that each sender gives itself. */
  async receive(senders: Map<number, number>): Promise<void> {
    for (let i = 0; i < this.#membership.messages; i += 1) {
      const completion = await this.id.nextRecvComp();
      this.#check(completion);
      const { wcFlags, immData, srcQp } = completion;
      const sender = (wcFlags & WcFlags.WITH_IMM) === 0 ? srcQp : immData;
      senders.set(sender, (senders.get(sender) ?? 0) + 1);
    }
  }

  leave(): void {
    if (this.#joined === undefined) return;
    this.#joined = undefined;
    attempt('mckey: failure leaving', () => this.id.leaveMulticast(this.#membership.group));
  }

  close(): void {
    this.#ah?.destroy();
    if (this.id.qp !== undefined) this.id.destroyQp();
    this.#mr?.dereg();
    this.id.destroy();
  }

  #createQp(): void {
    const { messages, loopback } = this.#membership;
    const depth = Math.max(1, messages);
    attempt('mckey: unable to create QP', () =>
      this.id.createQp(undefined, {
        cap: { maxSendWr: depth, maxRecvWr: depth, maxSendSge: 1, maxRecvSge: 1 },
        ...(loopback ? {} : { createFlags: QpCreateFlags.BLOCK_SELF_MCAST_LB }),
      }),
    );
  }

  #refuseLong(context: Context): void {
    const { messages, sizeBytes } = this.#membership;
    const mtu = mtuBytes(context.queryPort(this.id.portNum).activeMtu);
    if (messages === 0 || sizeBytes <= mtu) return;
    throw new ToolError(`mckey: message_size ${sizeBytes} is larger than active mtu ${mtu}; give -S a smaller one.`);
  }

  #check(completion: WorkCompletion): void {
    if (completion.status === WcStatus.SUCCESS) return;
    const why = verbsOf(this.id).explain(completion);
    throw new ToolError(`mckey: a message failed: ${wcStatusStr(completion.status)} (${completion.status}): ${why}`);
  }
}
