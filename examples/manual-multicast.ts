// The multicast example of the "RDMA Aware Networks Programming User Manual": datagram queue pairs join a group by
// rdma_cm; one sends to it, and all the others receive.
//
//   node manual-multicast.js 239.1.2.3           receives ten messages; start as many as you like
//   node manual-multicast.js 239.1.2.3 send      sends them
import { alloc, createId, PortSpace, SendFlags, WcStatus, WrOpcode } from 'verbena';
import type { CmId, UdParamReceived } from 'verbena';

const MESSAGES = 10;
const MESSAGE_BYTES = 100;
/** In front of each datagram there is room for its GRH. */
const GRH_BYTES = 40;
const RESOLVE_MS = 2000;

/** How datagrams reach the group. Without an event channel, the calls of an identifier wait until they are done. */
function join(id: CmId, host: string): UdParamReceived {
  id.joinMulticast({ host });
  const group = id.event?.param.ud;
  id.event?.ack();
  if (group === undefined) throw new Error(`could not join ${host}`);
  console.log(`joined ${host}`);
  return group;
}

async function receive(id: CmId, host: string): Promise<void> {
  const mr = id.regMsgs(alloc(MESSAGES * (GRH_BYTES + MESSAGE_BYTES)));
  const place = (index: number): number => index * (GRH_BYTES + MESSAGE_BYTES);
  for (let i = 0; i < MESSAGES; i += 1) id.postRecv(BigInt(i), mr.sge(place(i), GRH_BYTES + MESSAGE_BYTES));
  join(id, host);
  for (let i = 0; i < MESSAGES; i += 1) {
    const { status, wrId, byteLen, immData } = await id.nextRecvComp();
    if (status !== WcStatus.SUCCESS) throw new Error(`a receive request ended with status ${status}`);
    const start = place(Number(wrId));
    const text = Buffer.from(mr.bytes.slice(start + GRH_BYTES, start + byteLen)).toString();
    console.log(`from queue pair ${immData}: ${text}`);
  }
}

async function send(id: CmId, host: string): Promise<void> {
  const mr = id.regMsgs(alloc(MESSAGE_BYTES));
  const { ahAttr, qpNum: remoteQpn, qkey: remoteQkey } = join(id, host);
  const { pd, qp } = id;
  if (pd === undefined || qp === undefined) throw new Error('the identifier has no queue pair');
  using ah = pd.createAh(ahAttr);
  for (let i = 1; i <= MESSAGES; i += 1) {
    const { written } = new TextEncoder().encodeInto(`message ${i} of ${MESSAGES}`, mr.bytes);
    qp.postSend({
      opcode: WrOpcode.SEND_WITH_IMM,
      sendFlags: SendFlags.SIGNALED,
      sgList: [mr.sge(0, written)],
      // With it a receiver tells senders apart.
      immData: qp.qpNum,
      ud: { ah, remoteQpn, remoteQkey },
    });
    // The next one takes the same memory.
    await id.nextSendComp();
  }
  console.log(`sent ${MESSAGES} messages as queue pair ${qp.qpNum}`);
}

async function main(): Promise<void> {
  const [group = '', role] = process.argv.slice(2);
  if (group === '') throw new Error('say which group, such as 239.1.2.3');
  using id = createId(undefined, PortSpace.UDP);
  id.resolveAddr({ host: group }, { timeoutMs: RESOLVE_MS });
  id.createQp(undefined, { cap: { maxSendWr: 1, maxRecvWr: MESSAGES, maxSendSge: 1, maxRecvSge: 1 } });
  await (role === 'send' ? send(id, group) : receive(id, group));
  id.leaveMulticast({ host: group });
}

void main();
