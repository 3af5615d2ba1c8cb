// A work queue in the memory of a host that does nothing: workers take tickets by FETCH_AND_ADD, READ the job of their ticket,
// WRITE what came of it, and count what is done by another FETCH_AND_ADD. The host only looks at its memory now and then.
//
//   node work-queue.js host [JOBS]           prints where it listens; ends when all jobs are done
//   node work-queue.js work HOST:PORT        start as many as you like
import { setTimeout } from 'node:timers/promises';
import {
  AccessFlags,
  alloc,
  connect,
  type Connection,
  listen,
  SendFlags,
  VerbsError,
  WcStatus,
  WrOpcode,
} from 'verbena';

// The memory, in words of 8 bytes: the next ticket, how many jobs are done, how many there are, then two words for each job:
// its number, and the square that is to be found.
const [TICKET, DONE, COUNT, JOBS] = [0, 1, 2, 3];
const WORD = 8;
const ALL = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC;

async function host(jobs: number): Promise<void> {
  const memory = alloc((JOBS + 2 * jobs) * WORD);
  const words = new BigUint64Array(memory.buffer, memory.byteOffset, JOBS + 2 * jobs);
  words[COUNT] = BigInt(jobs);
  for (let job = 0; job < jobs; job += 1) words[JOBS + 2 * job] = BigInt(job + 1);

  const listener = listen();
  console.log(`${listener.address.host}:${listener.address.port}`);
  const served = listener.serve(async (request) => {
    using mr = request.id.pd?.regMr(memory, ALL);
    if (mr === undefined) return;
    // Where the memory is, and the key to it.
    const privateData = Buffer.alloc(12);
    privateData.writeBigUInt64BE(mr.addr, 0);
    privateData.writeUInt32BE(mr.rkey >>> 0, 8);
    await using connection = await request.accept({ privateData });
    await connection.closed;
  });
  while (Atomics.load(words, DONE) < BigInt(jobs)) await setTimeout(10);
  const squares = Array.from({ length: jobs }, (_, job) => words[JOBS + 2 * job + 1]);
  console.log(`all ${jobs} jobs are done: ${squares.join(' ')}`);
  listener.close();
  await served;
}

/** Words of another host's memory. */
class RemoteWords {
  readonly #connection: Connection;
  readonly #addr: bigint;
  readonly #rkey: number;
  readonly #mr;
  readonly #word: BigUint64Array;

  constructor(connection: Connection) {
    this.#connection = connection;
    const told = Buffer.from(connection.privateData);
    this.#addr = told.readBigUInt64BE(0);
    this.#rkey = told.readUInt32BE(8);
    this.#mr = connection.regMsgs(alloc(WORD));
    this.#word = new BigUint64Array(this.#mr.bytes.buffer, this.#mr.bytes.byteOffset, 1);
  }

  /** What was there before. */
  async add(index: number, summand: bigint): Promise<bigint> {
    const atomic = { ...this.#place(index), compareAdd: summand };
    const sgList = [this.#mr.sge()] as const;
    const opcode = WrOpcode.ATOMIC_FETCH_AND_ADD;
    this.#connection.qp.postSend({ opcode, sendFlags: SendFlags.SIGNALED, sgList, atomic });
    return this.#completed();
  }

  async read(index: number): Promise<bigint> {
    const { remoteAddr, rkey } = this.#place(index);
    this.#connection.postRead(0n, this.#mr.sge(), SendFlags.SIGNALED, remoteAddr, rkey);
    return this.#completed();
  }

  async write(index: number, value: bigint): Promise<void> {
    this.#word[0] = value;
    const { remoteAddr, rkey } = this.#place(index);
    this.#connection.postWrite(0n, this.#mr.sge(), SendFlags.SIGNALED, remoteAddr, rkey);
    await this.#completed();
  }

  #place(index: number): { remoteAddr: bigint; rkey: number } {
    return { remoteAddr: this.#addr + BigInt(index * WORD), rkey: this.#rkey };
  }

  async #completed(): Promise<bigint> {
    const wc = await this.#connection.sendComp();
    if (wc.status !== WcStatus.SUCCESS) throw new Error(this.#connection.id.verbs?.explain(wc));
    return this.#word[0];
  }
}

/** Who comes when all jobs are done finds nobody. */
function nobody(error: unknown): undefined {
  if (error instanceof VerbsError && (error.errno === 'ECONNREFUSED' || error.errno === 'ETIMEDOUT')) return undefined;
  throw error;
}

async function work(place: string): Promise<void> {
  const colon = place.lastIndexOf(':');
  const [host, port] = [place.slice(0, colon), Number(place.slice(colon + 1))];
  await using connection = await connect({ host, port }).catch(nobody);
  if (connection === undefined) {
    console.log(`did 0 jobs: nobody has any at ${place}`);
    return;
  }
  const words = new RemoteWords(connection);
  const count = await words.read(COUNT);
  let mine = 0;
  for (let ticket = await words.add(TICKET, 1n); ticket < count; ticket = await words.add(TICKET, 1n)) {
    const job = JOBS + 2 * Number(ticket);
    const number = await words.read(job);
    await words.write(job + 1, number * number);
    // After the WRITE has completed, so whoever sees the count sees the square.
    await words.add(DONE, 1n);
    mine += 1;
  }
  console.log(`did ${mine} jobs`);
}

async function main(): Promise<void> {
  const [role, argument = ''] = process.argv.slice(2);
  if (role === 'host') await host(argument === '' ? 16 : Number(argument));
  else if (role === 'work' && argument !== '') await work(argument);
  else throw new Error('usage: work-queue host [JOBS] | work HOST:PORT');
}

void main();
