// The reliable connection of the "RDMA Aware Networks Programming User Manual": a SEND, an RDMA READ and an RDMA WRITE
// between two hosts that first tell each other over TCP where their queue pairs and their memory are. Either side may be
// the manual's program in C (give it a GID index, -g), on an adapter or under `verbena run`.
//
//   node manual-rc.js [-p PORT] [-l ADDRESS]    server, for this machine or for whoever reaches that address
//   node manual-rc.js [-p PORT] HOST            client
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { parseArgs } from 'node:util';
import { AccessFlags, alloc, openDevice, QpState, QpType, SendFlags, WcStatus, WrOpcode } from 'verbena';
import type { Cq, Mr, Qp } from 'verbena';

const IB_PORT = 1;
const GID_INDEX = 0;
const POLL_LIMIT_MS = 2000;
// strlen("SEND operation ") + 1, as in the manual, where the other two texts are cut to it. Some copies of the program have
// longer texts, for which there is room.
const MESSAGE_BYTES = 16;
const BUFFER_BYTES = 64;

/** How to reach a queue pair and the memory that it may touch. */
interface Peer {
  readonly addr: bigint;
  readonly rkey: number;
  readonly qpNum: number;
  readonly gid: Uint8Array;
}

// struct cm_con_data_t, packed, in network byte order: addr (8 bytes), rkey (4), qp_num (4), lid (2), gid (16).
const PEER_BYTES = 34;

function encode({ addr, rkey, qpNum, gid }: Peer): Buffer {
  const bytes = Buffer.alloc(PEER_BYTES);
  bytes.writeBigUInt64BE(addr, 0);
  bytes.writeUInt32BE(rkey >>> 0, 8);
  bytes.writeUInt32BE(qpNum, 12);
  bytes.writeUInt16BE(0, 16); // Ethernet has no LIDs.
  bytes.set(gid, 18);
  return bytes;
}

function decode(bytes: Buffer): Peer {
  return {
    addr: bytes.readBigUInt64BE(0),
    rkey: bytes.readUInt32BE(8),
    qpNum: bytes.readUInt32BE(12),
    gid: bytes.subarray(18, PEER_BYTES),
  };
}

/** Waits for the peer at a TCP port, or goes to it. */
async function meet(host: string | undefined, port: number, address: string): Promise<Socket> {
  if (host !== undefined) {
    const socket = connect(port, host);
    await once(socket, 'connect');
    return socket;
  }
  const server = createServer().listen(port, address);
  await once(server, 'listening');
  console.log(`waiting on port ${port} for TCP connection`);
  const [socket] = (await once(server, 'connection')) as [Socket];
  server.close();
  return socket;
}

/** Tells the peer some bytes, and hears as many from it. Both sides are then at the same place of the program. */
async function exchange(socket: Socket, own: Uint8Array): Promise<Buffer> {
  socket.write(own);
  for (;;) {
    const bytes = socket.read(own.length) as Buffer | null;
    if (bytes?.length === own.length) return bytes;
    if (socket.readableEnded || bytes !== null) throw new Error('the peer has ended the TCP connection');
    await once(socket, 'readable');
  }
}

/** INIT, RTR, RTS. What comes in needs somewhere to go before it can come. */
function connectQueuePair(qp: Qp, peer: Peer, inbox: Mr | undefined): void {
  const all = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE;
  qp.modify({ qpState: QpState.INIT, portNum: IB_PORT, pkeyIndex: 0, qpAccessFlags: all });
  if (inbox !== undefined) qp.postRecv({ sgList: [inbox.sge()] });
  const ahAttr = { grh: { dgid: peer.gid, sgidIndex: GID_INDEX, hopLimit: 64 } };
  const rtr = { pathMtu: 1, rqPsn: 0, maxDestRdAtomic: 1, minRnrTimer: 0x12 } as const;
  qp.modify({ qpState: QpState.RTR, ahAttr, destQpNum: peer.qpNum, ...rtr });
  qp.modify({ qpState: QpState.RTS, sqPsn: 0, timeout: 0x12, retryCnt: 6, rnrRetry: 0, maxRdAtomic: 1 });
}

/** Polls until a request has ended well. */
function pollCompletion(cq: Cq): void {
  for (const end = Date.now() + POLL_LIMIT_MS; Date.now() < end;) {
    const wc = cq.poll(1).at(0);
    if (wc?.status === WcStatus.SUCCESS) return;
    if (wc !== undefined) throw new Error(cq.context.explain(wc));
  }
  throw new Error(`nothing has completed within ${POLL_LIMIT_MS} ms`);
}

const put = (mr: Mr, text: string): void => mr.bytes.set(Buffer.from(`${text.slice(0, MESSAGE_BYTES - 1)}\0`));
/** Up to the zero that ends texts in C. */
const textIn = (mr: Mr): string => Buffer.from(mr.bytes).toString('latin1').replace(/\0.*$/s, '');

async function main(): Promise<void> {
  const options = {
    port: { type: 'string', short: 'p', default: '19875' },
    listen: { type: 'string', short: 'l', default: '127.0.0.1' },
  } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const server = positionals.at(0);
  const isClient = server !== undefined;

  using context = openDevice();
  using pd = context.allocPd();
  using cq = context.createCq({ cqe: 4 });
  const access = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE;
  using mr = pd.regMr(alloc(BUFFER_BYTES), access);
  using qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } });
  const send = (request: { opcode: typeof WrOpcode.SEND } | { opcode: RdmaOpcode; rdma: Place }): void => {
    qp.postSend({ sendFlags: SendFlags.SIGNALED, sgList: [mr.sge(0, MESSAGE_BYTES)], ...request });
    pollCompletion(cq);
  };

  const socket = await meet(server, Number(values.port), values.listen);
  const own = { addr: mr.addr, rkey: mr.rkey, qpNum: qp.qpNum, gid: context.queryGid(IB_PORT, GID_INDEX) };
  const peer = decode(await exchange(socket, encode(own)));
  console.log(`Remote QP number = 0x${peer.qpNum.toString(16)}`);
  if (!isClient) put(mr, 'SEND operation ');
  connectQueuePair(qp, peer, isClient ? mr : undefined);
  await exchange(socket, Buffer.from('Q'));

  if (!isClient) send({ opcode: WrOpcode.SEND });
  else pollCompletion(cq);
  if (isClient) console.log(`Message is: '${textIn(mr)}'`);
  else put(mr, 'RDMA read operation ');

  await exchange(socket, Buffer.from('R'));
  if (isClient) {
    const rdma = { remoteAddr: peer.addr, rkey: peer.rkey };
    mr.bytes.fill(0);
    send({ opcode: WrOpcode.RDMA_READ, rdma });
    console.log(`Contents of server's buffer: '${textIn(mr)}'`);
    put(mr, 'RDMA write operation');
    console.log(`Now replacing it with: '${textIn(mr)}'`);
    send({ opcode: WrOpcode.RDMA_WRITE, rdma });
  }

  // The server learns of READ and WRITE from nobody but the client.
  await exchange(socket, Buffer.from('W'));
  if (!isClient) console.log(`Contents of server buffer: '${textIn(mr)}'`);
  socket.end();
}

type RdmaOpcode = typeof WrOpcode.RDMA_READ | typeof WrOpcode.RDMA_WRITE;
interface Place {
  readonly remoteAddr: bigint;
  readonly rkey: number;
}

void main();
