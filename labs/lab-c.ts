// Lab C: two hosts. They tell each other over TCP where to find their queue pairs and memory, then one SENDs to the
// other, WRITEs into its memory and READs from it. lab-c.md goes through it part by part.
//
//   bin/verbena lab c server [ADDRESS]      in one shell, or on one host
//   bin/verbena lab c HOST [ADDRESS]        in another; ADDRESS is where our own NIC is to be
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type Socket, connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import {
  AccessFlags,
  QpState,
  QpType,
  SendFlags,
  type WorkCompletion,
  WcStatus,
  WrOpcode,
  alloc,
  gidFromIp,
  openDevice,
} from 'verbena';

const TCP_PORT = 18516;
const PORT = 1;
// Where things are in the server's buffer.
const [INBOX, WRITTEN, TO_BE_READ, BUFFER_BYTES] = [0, 1024, 2048, 4096];
const GREETING = 'the server put this here, and never sent it';

const role = process.argv.at(2) ?? 'server';
const address = process.argv.at(3);
const isServer = role === 'server';

// 1. Our own side: device, domain, queue, memory, queue pair. The NIC runs in a thread, so that it serves the peer's
// reads and writes also while this program waits for something else.
using context = openDevice({ host: 'thread', ...(address === undefined ? {} : { address }) });
using pd = context.allocPd();
using cq = context.createCq({ cqe: 16 });
using mr = pd.regMr(alloc(BUFFER_BYTES), AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ);
using qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 4, maxRecvWr: 4 } });
qp.modify({
  qpState: QpState.INIT,
  pkeyIndex: 0,
  portNum: PORT,
  qpAccessFlags: AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ,
});

/** What a peer must know to reach us and our memory. */
interface ConnInfo {
  gid: string;
  qpn: number;
  psn: number;
  mtu: number;
  raddr: string;
  rkey: number;
}

const psn = randomInt(1 << 24);
const { activeMtu } = context.queryPort(PORT);
const own: ConnInfo = {
  gid: context.address,
  qpn: qp.qpNum,
  psn,
  mtu: activeMtu,
  raddr: mr.addr.toString(),
  rkey: mr.rkey,
};

// 2. TCP, to tell each other: one line of JSON each way.
async function accept(): Promise<Socket> {
  const server = createServer().listen(TCP_PORT);
  await once(server, 'listening');
  console.log(`server at ${context.address}, waiting on TCP port ${TCP_PORT}`);
  const [socket] = (await once(server, 'connection')) as [Socket];
  server.close();
  return socket;
}

async function dial(host: string): Promise<Socket> {
  const socket = connect(TCP_PORT, host);
  await once(socket, 'connect').catch((error: unknown) => {
    throw new Error(`no server at ${host}: start \`lab c server\` there first`, { cause: error });
  });
  return socket;
}

const socket = isServer ? await accept() : await dial(role);
const lines = createInterface({ input: socket })[Symbol.asyncIterator]();

function tell(value: unknown): void {
  socket.write(`${JSON.stringify(value)}\n`);
}

async function hear(): Promise<unknown> {
  const line = await lines.next();
  if (line.done === true) throw new Error('the peer is gone');
  return JSON.parse(line.value);
}

tell(own);
// The peer is this program, so what it tells is a ConnInfo.
const peer = (await hear()) as ConnInfo;
console.log(`peer: ${peer.gid}, QPN 0x${peer.qpn.toString(16)}, PSN 0x${peer.psn.toString(16)}`);

// 3. INIT -> RTR with what the peer told, RTR -> RTS with our own. A side that receives makes room before it is ready.
if (isServer) {
  mr.bytes.set(new TextEncoder().encode(GREETING), TO_BE_READ);
  qp.postRecv({ sgList: [mr.sge(INBOX, WRITTEN - INBOX)] });
}
qp.modify({
  qpState: QpState.RTR,
  ahAttr: { grh: { dgid: gidFromIp(peer.gid) } },
  destQpNum: peer.qpn,
  rqPsn: peer.psn,
  pathMtu: peer.mtu < activeMtu ? (peer.mtu as typeof activeMtu) : activeMtu,
  maxDestRdAtomic: 1,
  minRnrTimer: 12,
});
qp.modify({ qpState: QpState.RTS, sqPsn: psn, timeout: 14, retryCnt: 7, rnrRetry: 7, maxRdAtomic: 1 });
tell('ready');
await hear();

/** Polls until one request has ended. */
function completion(): WorkCompletion {
  for (;;) {
    const wc = cq.poll(1).at(0);
    if (wc === undefined) continue;
    if (wc.status !== WcStatus.SUCCESS) throw new Error(context.explain(wc));
    return wc;
  }
}

const text = (offset: number, length: number): string =>
  Buffer.from(mr.bytes).toString('utf8', offset, offset + length);

/** Puts a text at the beginning of our buffer; the piece of memory to send comes back. */
function compose(words: string): ReturnType<typeof mr.sge> {
  const { written } = new TextEncoder().encodeInto(words, mr.bytes);
  return mr.sge(0, written);
}

// 4. Work requests and completions.
if (isServer) {
  // Two-sided: a SEND ends our receive request.
  const wc = completion();
  console.log(`received by SEND: ${text(INBOX, wc.byteLen)}`);
  // One-sided: nothing completes here. The client says over TCP that it is done, or we would never know.
  const length = Number(await hear());
  console.log(`found in memory, put there by RDMA WRITE: ${text(WRITTEN, length)}`);
} else {
  const raddr = BigInt(peer.raddr);
  const { rkey } = peer;
  const sendFlags = SendFlags.SIGNALED;
  qp.postSend({ opcode: WrOpcode.SEND, sendFlags, sgList: [compose('hello from the client')] });
  completion();
  console.log('SEND completed: the server has it');

  const sge = compose('written straight into your memory');
  qp.postSend({
    opcode: WrOpcode.RDMA_WRITE,
    sendFlags,
    sgList: [sge],
    rdma: { remoteAddr: raddr + BigInt(WRITTEN), rkey },
  });
  completion();
  console.log('RDMA WRITE completed');

  qp.postSend({
    opcode: WrOpcode.RDMA_READ,
    sendFlags,
    sgList: [mr.sge(0, GREETING.length)],
    rdma: { remoteAddr: raddr + BigInt(TO_BE_READ), rkey },
  });
  completion();
  console.log(`RDMA READ completed: ${text(0, GREETING.length)}`);
  tell(sge.length);
}
socket.end();
