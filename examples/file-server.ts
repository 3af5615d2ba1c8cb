// A file server whose data no server program sends: it tells where a file lies in its memory, and the client READs it.
//
//   node file-server.js serve FOLDER               prints where it listens
//   node file-server.js get HOST:PORT NAME         writes the file to standard output
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  AccessFlags,
  alloc,
  connect,
  type Connection,
  type ConnectionRequest,
  listen,
  SendFlags,
  WcStatus,
} from 'verbena';
import type { Mr, WorkCompletion } from 'verbena';

const NAME_BYTES = 255;
// The answer: address (8 bytes), key (4), length of the file (8; 2^64 - 1 where there is none).
const ANSWER_BYTES = 20;
const NO_FILE = 2n ** 64n - 1n;
/** Of one READ, and how many are under way at a time. */
const CHUNK_BYTES = 1 << 20;
const READS = 4;

function expectSuccess({ id }: Connection, wc: WorkCompletion): WorkCompletion {
  if (wc.status !== WcStatus.SUCCESS) throw new Error(id.verbs?.explain(wc));
  return wc;
}

/** Answers one client: name in, address and key out; and the file stays registered until the client has gone. */
async function serveClient(request: ConnectionRequest, folder: string): Promise<void> {
  using inbox = request.id.regMsgs(alloc(NAME_BYTES));
  using outbox = request.id.regMsgs(alloc(ANSWER_BYTES));
  await using connection = await request.accept({ prepare: (id) => id.postRecv(0n, inbox.sge()) });
  const { byteLen } = expectSuccess(connection, await connection.recvComp(AbortSignal.timeout(10_000)));
  // A name, and no path: what is outside the folder is nobody's affair.
  const name = basename(Buffer.from(inbox.bytes).toString('utf8', 0, byteLen));
  const bytes = await readFile(join(folder, name)).catch(() => undefined);
  using file = bytes === undefined || bytes.length === 0 ? undefined : registered(connection, bytes);
  const answer = Buffer.alloc(ANSWER_BYTES);
  answer.writeBigUInt64BE(file?.addr ?? 0n, 0);
  answer.writeUInt32BE((file?.rkey ?? 0) >>> 0, 8);
  answer.writeBigUInt64BE(bytes === undefined ? NO_FILE : BigInt(bytes.length), 12);
  outbox.bytes.set(answer);
  connection.postSend(0n, outbox.sge(), SendFlags.SIGNALED);
  await connection.sendComp();
  await connection.closed;
  console.error(`served ${name} to ${connection.remoteAddress.host}`);
}

function registered(connection: Connection, bytes: Buffer): Mr {
  const memory = alloc(bytes.length);
  memory.set(bytes);
  return connection.pd.regMr(memory, AccessFlags.REMOTE_READ);
}

async function serve(folder: string): Promise<void> {
  const listener = listen();
  console.log(`${listener.address.host}:${listener.address.port}`);
  await listener.serve((request) => serveClient(request, folder));
}

/** READs all of it, with several requests under way. */
async function readAll(connection: Connection, into: Mr, remoteAddr: bigint, rkey: number): Promise<void> {
  let [asked, outstanding] = [0, 0];
  while (asked < into.length || outstanding > 0) {
    for (; asked < into.length && outstanding < READS; outstanding += 1) {
      const sge = into.sge(asked, Math.min(CHUNK_BYTES, into.length - asked));
      connection.postRead(0n, sge, SendFlags.SIGNALED, remoteAddr + BigInt(asked), rkey);
      asked += sge.length;
    }
    expectSuccess(connection, await connection.sendComp());
    outstanding -= 1;
  }
}

async function get(place: string, name: string): Promise<void> {
  const colon = place.lastIndexOf(':');
  const inbox = alloc(ANSWER_BYTES);
  await using connection = await connect({
    host: place.slice(0, colon),
    port: Number(place.slice(colon + 1)),
    qp: { cap: { maxSendWr: READS, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1 } },
    prepare: (id) => id.postRecv(0n, id.regMsgs(inbox).sge()),
  });
  const outbox = connection.regMsgs(alloc(NAME_BYTES));
  const { written } = new TextEncoder().encodeInto(name, outbox.bytes);
  connection.postSend(0n, outbox.sge(0, written), SendFlags.SIGNALED);
  expectSuccess(connection, await connection.sendComp());
  expectSuccess(connection, await connection.recvComp(AbortSignal.timeout(10_000)));
  const answer = Buffer.from(inbox);
  const length = answer.readBigUInt64BE(12);
  if (length === NO_FILE) throw new Error(`the server has no file ${name}`);
  if (length === 0n) return;
  const file = connection.regMsgs(alloc(Number(length)));
  await readAll(connection, file, answer.readBigUInt64BE(0), answer.readUInt32BE(8));
  process.stdout.write(Buffer.from(file.bytes));
}

async function main(): Promise<void> {
  const [role, place = '', name = ''] = process.argv.slice(2);
  if (role === 'serve' && place !== '') await serve(place);
  else if (role === 'get' && place !== '' && name !== '') await get(place, name);
  else throw new Error('usage: file-server serve FOLDER | get HOST:PORT NAME');
}

void main();
