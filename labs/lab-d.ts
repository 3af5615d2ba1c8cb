// Lab D: lab C, with its memory on a GPU. Everything is the same as there, except that buffers are made on the device, and that
// it is their address that the peers tell each other; such lines are marked GPU. lab-d.md goes through it part by part.
//
//   bin/verbena lab d server [ADDRESS] [--gpu cuda|opencl]      in one shell, or on one host
//   bin/verbena lab d HOST [ADDRESS] [--gpu cuda|opencl]        in another; ADDRESS is where our own NIC is to be
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type Socket, connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import {
  AccessFlags,
  QpState,
  QpType,
  SendFlags,
  type SendWr,
  type WorkCompletion,
  WcStatus,
  WrOpcode,
  gidFromIp,
  openDevice,
} from 'verbena';
import { GpuKind, openGpu } from 'verbena/gpu';

const TCP_PORT = 18517;
const PORT = 1;
// Where things are in the server's buffer.
const [INBOX, TO_BE_READ, WRITTEN, BUFFER_BYTES] = [0, 1024, 4096, 4096 + 1024 * 1024];
const GREETING = 'the server put this on its GPU, and never sent it';

const { values, positionals } = parseArgs({ options: { gpu: { type: 'string' } }, allowPositionals: true });
const role = positionals.at(0) ?? 'server';
const address = positionals.at(1);
const isServer = role === 'server';
const kind = Object.values(GpuKind).find((known) => known === values.gpu);
if (values.gpu !== undefined && kind === undefined)
  throw new Error(`--gpu ${values.gpu}: that is neither cuda nor opencl`);

// 1. Our own side. GPU: the buffer is the device's, and no pointer of this program leads into it. Its region has no `bytes`; its
// address is where the device has it. For the rest the region is one like any other.
using gpu = openGpu(kind === undefined ? {} : { kind });
console.log(`GPU: ${gpu.device.name} (${gpu.device.kind})`);
using context = openDevice({ host: 'thread', ...(address === undefined ? {} : { address }) });
using pd = context.allocPd();
using cq = context.createCq({ cqe: 16 });
using buffer = gpu.alloc(BUFFER_BYTES);
using mr = pd.regMr(buffer, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ);
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
  raddr: mr.addr.toString(), // GPU: the address of memory of the device
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
    throw new Error(`no server at ${host}: start \`lab d server\` there first`, { cause: error });
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
console.log(
  `peer: ${peer.gid}, QPN 0x${peer.qpn.toString(16)}, its GPU's memory at 0x${BigInt(peer.raddr).toString(16)}`,
);

// 3. INIT -> RTR with what the peer told, RTR -> RTS with our own. GPU: what is to be read goes to the device first.
if (isServer) {
  await buffer.write(new TextEncoder().encode(GREETING), TO_BE_READ);
  qp.postRecv({ sgList: [mr.sge(INBOX, TO_BE_READ - INBOX)] });
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

/** GPU: to print something, it has to be copied out of the device first. */
async function text(offset: number, length: number): Promise<string> {
  const bytes = Buffer.alloc(length);
  await buffer.read(bytes, offset);
  return bytes.toString('utf8');
}

/** One request, from its posting to its completion. */
function carryOut(request: SendWr): void {
  qp.postSend({ sendFlags: SendFlags.SIGNALED, ...request });
  completion();
}

// 4. Work requests and completions.
if (isServer) {
  const wc = completion();
  console.log(`received by SEND, on the GPU: ${await text(INBOX, wc.byteLen)}`);
  // One-sided: nothing completes here. The client says over TCP that it is done, or we would never know.
  await hear();
  console.log(`found on the GPU, put there by RDMA WRITE: ${await text(WRITTEN, 8 * 2)}...`);
} else {
  const raddr = BigInt(peer.raddr);
  const { rkey } = peer;
  const words = new TextEncoder().encode('hello from the GPU of the client');
  await buffer.write(words);
  carryOut({ opcode: WrOpcode.SEND, sgList: [mr.sge(0, words.length)] });
  console.log('SEND completed: the GPU of the server has it');

  carryOut({
    opcode: WrOpcode.RDMA_READ,
    sgList: [mr.sge(0, GREETING.length)],
    rdma: { remoteAddr: raddr + BigInt(TO_BE_READ), rkey },
  });
  console.log(`RDMA READ completed: ${await text(0, GREETING.length)}`);

  // GPU: two more buffers; what goes there in the one and comes back in the other is compared where it lies.
  using sent = gpu.alloc(BUFFER_BYTES - WRITTEN);
  using back = gpu.alloc(BUFFER_BYTES - WRITTEN);
  using sentMr = pd.regMr(sent);
  using backMr = pd.regMr(back, AccessFlags.LOCAL_WRITE);
  await sent.write(Buffer.from(randomBytes(sent.length / 2).toString('hex')));
  const rdma = { remoteAddr: raddr + BigInt(WRITTEN), rkey };
  carryOut({ opcode: WrOpcode.RDMA_WRITE, sgList: [sentMr.sge()], rdma });
  console.log(`RDMA WRITE of ${sent.length} bytes completed: from GPU to GPU`);
  carryOut({ opcode: WrOpcode.RDMA_READ, sgList: [backMr.sge()], rdma });
  const difference = await sent.firstDifference(back);
  if (difference !== undefined) throw new Error(`byte ${difference} has come back as another one`);
  console.log('RDMA READ of the same completed: compared on the GPU, every byte is as it was');
  tell('done');
}
socket.end();
