// A pool of workers: threads that connect to whoever has work, take one piece of it at a time, and send back what came of it.
// A worker that dies costs nothing but time: its piece is given to another. The threads share the NIC of the program; workers
// may as well be processes with NICs of their own, on other hosts.
//
//   node worker-pool.js [WORKERS]                 counts the primes below 400,000
//   node worker-pool.js work HOST:PORT            one more worker, in a process of its own
import { Worker, workerData } from 'node:worker_threads';
import { alloc, connect, listen, openDevice, SendFlags, WcStatus } from 'verbena';
import type { ConnectionRequest, SharedDevice } from 'verbena';

const LIMIT = 400_000;
const PIECE = 20_000;
// A piece of work is two numbers of 8 bytes, from and to; what came of it is one.
const WORK_BYTES = 16;
const RESULT_BYTES = 8;
const PATIENCE_MS = 60_000;

interface Piece {
  readonly from: number;
  readonly to: number;
}

function countPrimes({ from, to }: Piece): number {
  let count = 0;
  for (let n = Math.max(2, from); n < to; n += 1) {
    let divisor = 2;
    while (divisor * divisor <= n && n % divisor !== 0) divisor += 1;
    if (divisor * divisor > n) count += 1;
  }
  return count;
}

/** What is to be done, and what came of it. */
class Work {
  readonly #pieces: Piece[] = [];
  #unfinished = 0;
  readonly finished: Promise<number>;
  #finish: (total: number) => void = () => undefined;
  #total = 0;

  constructor() {
    for (let from = 0; from < LIMIT; from += PIECE) this.#pieces.push({ from, to: from + PIECE });
    this.#unfinished = this.#pieces.length;
    this.finished = new Promise((resolve) => (this.#finish = resolve));
  }

  take(): Piece | undefined {
    return this.#pieces.pop();
  }

  putBack(piece: Piece): void {
    this.#pieces.push(piece);
  }

  done(count: number): void {
    this.#total += count;
    this.#unfinished -= 1;
    if (this.#unfinished === 0) this.#finish(this.#total);
  }
}

/** Gives one worker pieces until there are none, or the worker has gone. */
async function employ(request: ConnectionRequest, work: Work): Promise<void> {
  using inbox = request.id.regMsgs(alloc(RESULT_BYTES));
  using outbox = request.id.regMsgs(alloc(WORK_BYTES));
  await using connection = await request.accept({ prepare: (id) => id.postRecv(0n, inbox.sge()) });
  for (let piece = work.take(); piece !== undefined; piece = work.take()) {
    new Float64Array(outbox.bytes.buffer, outbox.bytes.byteOffset, 2).set([piece.from, piece.to]);
    connection.postSend(0n, outbox.sge(), SendFlags.SIGNALED);
    const { status } = await connection.recvComp(AbortSignal.timeout(PATIENCE_MS)).catch(() => ({ status: undefined }));
    if (status !== WcStatus.SUCCESS) {
      work.putBack(piece);
      return;
    }
    await connection.sendComp();
    const [count] = new Float64Array(inbox.bytes.buffer, inbox.bytes.byteOffset, 1);
    connection.postRecv(0n, inbox.sge());
    work.done(count);
  }
}

/** Works until there is no more: whoever gives work ends the connection then. */
async function labour(place: string): Promise<void> {
  const colon = place.lastIndexOf(':');
  // A thread is told which NIC to use; a process has one of its own.
  const device = (workerData as { readonly device: SharedDevice } | null)?.device;
  const inbox = alloc(WORK_BYTES);
  using context = openDevice(device === undefined ? {} : { device });
  await using connection = await connect({
    context,
    host: place.slice(0, colon),
    port: Number(place.slice(colon + 1)),
    prepare: (id) => id.postRecv(0n, id.regMsgs(inbox).sge()),
  });
  const mr = connection.regMsgs(inbox);
  const outbox = connection.regMsgs(alloc(RESULT_BYTES));
  for (;;) {
    const { status } = await connection.recvComp();
    if (status !== WcStatus.SUCCESS) return;
    const [from, to] = new Float64Array(inbox.buffer, inbox.byteOffset, 2);
    connection.postRecv(0n, mr.sge());
    new Float64Array(outbox.bytes.buffer, outbox.bytes.byteOffset, 1)[0] = countPrimes({ from, to });
    connection.postSend(0n, outbox.sge(), SendFlags.SIGNALED);
    if ((await connection.sendComp()).status !== WcStatus.SUCCESS) return;
  }
}

async function main(): Promise<void> {
  const [role = '4', place = ''] = process.argv.slice(2);
  if (role === 'work' && place !== '') return labour(place);
  const work = new Work();
  using context = openDevice({ host: 'thread' });
  const listener = listen({ context });
  const served = listener.serve((request) => employ(request, work));
  const { host, port } = listener.address;
  console.log(`work is to be had at ${host}:${port}`);
  const workers = Array.from({ length: Number(role) }, () => {
    const device = context.share();
    const transferList = device.port === undefined ? [] : [device.port];
    return new Worker(process.argv[1], { argv: ['work', `${host}:${port}`], workerData: { device }, transferList });
  });
  for (const worker of workers) worker.on('error', (error) => console.error('a worker has failed:', error));
  console.log(`primes below ${LIMIT}: ${await work.finished}`);
  // One may not even have come before all was done.
  await Promise.all(workers.map((worker) => worker.terminate()));
  listener.close();
  await served;
}

void main();
