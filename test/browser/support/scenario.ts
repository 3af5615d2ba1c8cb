/**
 * A run that has all in it that may depend on what a program runs in. It is bundled for a browser, hence imports nothing but the
 * package, and asks its hosts for devices, as a program in a page has to.
 */
import {
  AccessFlags,
  alloc,
  type ConnectionRequest,
  type Cq,
  type Mr,
  QpState,
  QpType,
  SendFlags,
  type SendWr,
  WcStatus,
  WrOpcode,
} from 'verbena';
import { type Sim, type SimHost, type SimPacket, simulate } from 'verbena/sim';

const PORT = 7174;
const SHARED_BYTES = 16 * 1024;
const MESSAGE_BYTES = 3000;
const ROUNDS = 4;
const QKEY = 0x11111111;
const GRH_BYTES = 40;
const ANY_ACCESS =
  AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;

const CONDITIONS = {
  jitterUs: 3,
  loss: 0.02,
  lossBurstPackets: 1.5,
  duplication: 0.02,
  reordering: 0.05,
  corruption: 0.02,
  bandwidthBytesPerUs: 1000,
};

/** Memory of a host, open to a peer, and how it is told of it: an address and a key. */
function told(addr: bigint, rkey: number, into: DataView): void {
  into.setBigUint64(0, addr);
  into.setUint32(8, rkey);
}

/** A server: offers memory to whoever connects, and takes what it is sent. */
function serve(host: SimHost): void {
  const answer = async (request: ConnectionRequest): Promise<void> => {
    const where = new Uint8Array(12);
    const connection = await request.accept({
      privateData: where,
      prepare: (id) => {
        const { pd } = id;
        if (pd === undefined) throw new Error('an identifier with a queue pair has a protection domain');
        const shared = pd.regMr(alloc(SHARED_BYTES), ANY_ACCESS);
        told(shared.addr, shared.rkey, new DataView(where.buffer));
        const messages = id.regMsgs(alloc(MESSAGE_BYTES));
        for (let i = 0; i < 2 * ROUNDS; i += 1) id.postRecv(BigInt(i), messages.sge());
      },
    });
    for (let wc = await connection.recvComp(); wc.status === WcStatus.SUCCESS; wc = await connection.recvComp());
  };
  // What a handler was doing when its host crashed is no news.
  void host.listen({ port: PORT }).serve(answer, { onError: () => undefined });
}

/** What a client asks for in one round: one request of each kind. */
function requestsOf(round: number, local: Mr, remoteAddr: bigint, rkey: number): SendWr[] {
  const rdma = { remoteAddr, rkey };
  const sendFlags = SendFlags.SIGNALED;
  const word = local.sge(0, 8);
  return [
    { opcode: WrOpcode.SEND, sendFlags, sgList: [local.sge(0, MESSAGE_BYTES - round)] },
    { opcode: WrOpcode.RDMA_WRITE, sendFlags, sgList: [local.sge(0, 9000 + round)], rdma },
    { opcode: WrOpcode.RDMA_READ, sendFlags, sgList: [local.sge(0, 5000)], rdma },
    { opcode: WrOpcode.RDMA_WRITE_WITH_IMM, sendFlags, sgList: [local.sge(0, 100)], rdma, immData: round },
    {
      opcode: WrOpcode.ATOMIC_FETCH_AND_ADD,
      sendFlags,
      sgList: [word],
      atomic: { remoteAddr, rkey, compareAdd: BigInt(round) },
    },
    {
      opcode: WrOpcode.ATOMIC_CMP_AND_SWP,
      sendFlags,
      sgList: [word],
      atomic: { remoteAddr, rkey, compareAdd: 0n, swap: 1n },
    },
  ];
}

/** One connection, for as many of the rounds that are left as it lives. @returns how many were done */
async function connectOnce(sim: Sim, client: SimHost, first: number): Promise<number> {
  const connection = await client.connect({ host: 'server', port: PORT, retryCount: 3, timeoutMs: 4000 });
  try {
    const where = new DataView(connection.privateData.slice().buffer);
    const local = connection.pd.regMr(alloc(SHARED_BYTES), ANY_ACCESS);
    local.bytes.forEach((_, i) => (local.bytes[i] = i + first));
    for (let round = first; round < ROUNDS; round += 1) {
      const requests = requestsOf(round, local, where.getBigUint64(0), where.getUint32(8));
      for (const request of requests) connection.qp.postSend(request);
      for (let left = requests.length; left > 0; left -= 1)
        if ((await connection.sendComp()).status !== WcStatus.SUCCESS) return round - first;
      await sim.sleep(20);
    }
    return ROUNDS - first;
  } finally {
    await connection.close();
  }
}

/** A client that connects anew until it has done what it wanted, or has tried often enough. */
async function persist(sim: Sim, client: SimHost): Promise<void> {
  let done = 0;
  for (let attempts = 0; done < ROUNDS && attempts < 8; attempts += 1) {
    try {
      done += await connectOnce(sim, client, done);
    } catch {
      await sim.sleep(500_000);
    }
  }
}

/** A UD queue pair of a host, with room for what comes. */
function datagrams({ context }: SimHost) {
  const pd = context.allocPd();
  const channel = context.createCompChannel();
  const cq = context.createCq({ cqe: 64, channel });
  cq.reqNotify();
  const cap = { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 1, maxRecvSge: 1 };
  const qp = pd.createQp({ qpType: QpType.UD, sendCq: cq, recvCq: cq, cap });
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: QKEY });
  qp.modify({ qpState: QpState.RTR });
  qp.modify({ qpState: QpState.RTS, sqPsn: 0 });
  const mr = pd.regMr(alloc(2048), AccessFlags.LOCAL_WRITE);
  for (let i = 0; i < 16; i += 1) qp.postRecv({ sgList: [mr.sge()] });
  return { pd, channel, cq, qp, mr };
}

/** Datagrams over IPv6; the receiver sleeps on a completion channel. */
async function scatter(sim: Sim, from: SimHost, to: SimHost, count: number): Promise<void> {
  const [sender, receiver] = [datagrams(from), datagrams(to)];
  const receiving = { over: false };
  const take = (cq: Cq): void => {
    if (receiving.over) return;
    cq.ackEvents(1);
    cq.reqNotify();
    cq.poll(16);
  };
  const listening = (async () => {
    for await (const cq of receiver.channel) take(cq);
  })();
  const ah = sender.pd.createAh({ grh: { dgid: to.context.queryGid(1, 0) } });
  const ud = { ah, remoteQpn: receiver.qp.qpNum, remoteQkey: QKEY };
  for (let i = 0; i < count; i += 1) {
    sender.qp.postSend({ opcode: WrOpcode.SEND_WITH_IMM, immData: i, sgList: [sender.mr.sge(GRH_BYTES, 64 * i)], ud });
    await sim.sleep(7);
    sender.cq.poll(16);
  }
  await sim.until(() => (to.counters()['rcvd_pkts'] ?? 0) > 0, { withinUs: 1_000_000 });
  // What was late has come by then.
  await sim.sleep(1000);
  receiving.over = true;
  to.context.close();
  await listening;
}

export function packetsOf(seed: number): Promise<SimPacket[]> {
  return simulate({ seed, conditions: CONDITIONS }, async (sim) => {
    const [server, client, other] = [sim.host('server'), sim.host('client'), sim.host('other')];
    const [north, south] = [sim.host('north', { address: 'fd00::1' }), sim.host('south', { address: 'fd00::2' })];
    serve(server);
    // The power fails in the midst of a message, at another one for each seed.
    sim.when({ opcode: /^RC_WRITE/, from: client, nth: 1 + (seed % 40), optional: true }, () => {
      server.crash();
      sim.at(sim.nowUs + 3_000_000, () => {
        server.restart();
        serve(server);
      });
    });
    sim.at(100, () => other.pause());
    sim.at(5000, () => other.resume());
    sim.delay({ cm: 'REP', nth: 1, optional: true }, 40);
    await Promise.all([persist(sim, client), persist(sim, other), scatter(sim, north, south, 12)]);
    return sim.packets();
  });
}

/** A packet in words: when it was sent, by whom, and what became of it. */
function lineOf({ index, sentUs, from, to, fate, deliveredUs, text, bytes }: SimPacket): string {
  return `${index} ${sentUs} ${from} > ${to} ${text} ${bytes.length} B: ${fate.join()} ${deliveredUs.join()}`;
}

/** SHA-256 of some bytes, in hexadecimal. */
async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** All packets in words and then byte for byte. */
function joined(packets: readonly SimPacket[]): Uint8Array<ArrayBuffer> {
  const pieces = packets.flatMap((packet) => [new TextEncoder().encode(lineOf(packet)), packet.bytes]);
  const all = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

export interface Digest {
  readonly seed: number;
  readonly packets: number;
  readonly sha256: string;
}

/** The runs of some seeds, from 1 on. */
export async function digestsOf(seeds: number): Promise<Digest[]> {
  const digests: Digest[] = [];
  for (let seed = 1; seed <= seeds; seed += 1) {
    const packets = await packetsOf(seed);
    digests.push({ seed, packets: packets.length, sha256: await sha256(joined(packets)) });
  }
  return digests;
}

/** The packets of a run, in words, and each with a digest of its bytes. */
export async function linesOf(seed: number): Promise<string[]> {
  const packets = await packetsOf(seed);
  return Promise.all(packets.map(async (packet) => `${lineOf(packet)} ${await sha256(packet.bytes.slice())}`));
}
