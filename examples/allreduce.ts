// What programs of MPI do all day, on UCP: processes, each with a NIC of its own, add up their arrays by an allreduce, which is a ring where they
// are long, and exchange the edges of a grid with their neighbours. Messages find their receives by tags, which say who sends. Every result is checked.
//
//   node allreduce.js [--ranks 8] [--sizes 8192,1m] [--transport rc|ud] [--json] [--svg FILE]         --help lists all options
//
// Prints the bus bandwidth by size: what each process sends, 2 (n - 1) / n of its array, in the time of an allreduce.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { alloc, type Context, openDevice, VerbsError } from 'verbena';
import { type UcpEndpoint, UcpWorker } from 'verbena/ucp';

/** Until V8 has compiled what is measured: for each size so many rounds at least, and otherwise no more bytes than those. */
const LEAST_WARM_UP = 3;
const WARM_UP_BYTES = 1 << 25;
const FLOAT_BYTES = 4;

// ---- Between processes: who, what, and when all are there.

interface Address {
  readonly host: string;
  readonly port: number;
}

/** What a message is; its tag also says who sends it. */
const Kind = { BARRIER: 0, CHUNK: 1, UP: 2, DOWN: 3, LEFT: 4, RIGHT: 5, BLOCK: 6 } as const;
type Kind = (typeof Kind)[keyof typeof Kind];
const NOTHING = new Uint8Array(0);

/** The processes of a run, each known by its rank. */
class Communicator {
  constructor(
    private readonly worker: UcpWorker,
    readonly rank: number,
    private readonly endpoints: readonly UcpEndpoint[],
  ) {}

  get size(): number {
    return this.endpoints.length;
  }

  /** The rank that is so many further on the ring. */
  away(distance: number): number {
    return (this.rank + distance + this.size) % this.size;
  }

  send(to: number, kind: Kind, data: Uint8Array): Promise<void> {
    return this.endpoints[to].tagSend(data, this.rank * 256 + kind);
  }

  async receive(from: number, kind: Kind, buffer: Uint8Array): Promise<void> {
    await this.worker.tagReceive(buffer, from * 256 + kind);
  }

  /** Resolves when all have called it: each round, whoever was heard of is twice as many. */
  async barrier(): Promise<void> {
    for (let distance = 1; distance < this.size; distance *= 2) {
      const sent = this.send(this.away(distance), Kind.BARRIER, NOTHING);
      await Promise.all([sent, this.receive(this.away(-distance % this.size), Kind.BARRIER, new Uint8Array(0))]);
    }
  }
}

/** Numbers in memory that an adapter can reach. */
function floats(length: number): Float32Array {
  const bytes = alloc(Math.max(1, length) * FLOAT_BYTES);
  return new Float32Array(bytes.buffer, bytes.byteOffset, length);
}

function bytesOf(values: Float32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

// ---- Short arrays go whole: each round, everyone has the sums of twice as many.

/** @param scratch as long as the values */
async function allreduceWhole(all: Communicator, values: Float32Array, scratch: Float32Array): Promise<void> {
  for (let distance = 1; distance < all.size; distance *= 2) {
    const other = all.rank ^ distance;
    const sent = all.send(other, Kind.CHUNK, bytesOf(values));
    await Promise.all([sent, all.receive(other, Kind.CHUNK, bytesOf(scratch))]);
    for (let i = 0; i < values.length; i += 1) values[i] += scratch[i];
  }
}

// ---- The ring: each array has a chunk for each process.

/** Leaves the sums of all processes' values in each of them. */
async function allreduceRing(all: Communicator, values: Float32Array, scratch: Float32Array): Promise<void> {
  const { size, rank } = all;
  const chunk = (i: number): Float32Array => {
    const n = (i + 2 * size) % size;
    return values.subarray(Math.floor((values.length * n) / size), Math.floor((values.length * (n + 1)) / size));
  };
  const [left, right] = [all.away(-1), all.away(1)];
  // Sums grow on their way round, and each ends with another process.
  for (let step = 0; step < size - 1; step += 1) {
    const sum = chunk(rank - step - 1);
    const part = scratch.subarray(0, sum.length);
    const sent = all.send(right, Kind.CHUNK, bytesOf(chunk(rank - step)));
    await Promise.all([sent, all.receive(left, Kind.CHUNK, bytesOf(part))]);
    for (let i = 0; i < sum.length; i += 1) sum[i] += part[i];
  }
  // Then they go round as they are.
  for (let step = 0; step < size - 1; step += 1) {
    const sent = all.send(right, Kind.CHUNK, bytesOf(chunk(rank + 1 - step)));
    await Promise.all([sent, all.receive(left, Kind.CHUNK, bytesOf(chunk(rank - step)))]);
  }
}

/** @returns how long one took, in microseconds, when all sums were right */
async function timeAllreduce(
  all: Communicator,
  { bytes, rounds, warmUp, isRing }: Extract<Order, { what: 'allreduce' }>,
): Promise<number> {
  const values = floats(bytes / FLOAT_BYTES);
  const scratch = floats(isRing ? Math.ceil(values.length / all.size) : values.length);
  const allreduce = isRing ? allreduceRing : allreduceWhole;
  let elapsedMs = 0;
  for (let round = -warmUp; round < rounds; round += 1) {
    for (let i = 0; i < values.length; i += 1) values[i] = all.rank + (i % 7);
    await all.barrier();
    const begun = performance.now();
    await allreduce(all, values, scratch);
    if (round >= 0) elapsedMs += performance.now() - begun;
    checkSums(all, values);
  }
  return (elapsedMs * 1000) / rounds;
}

/** Others still add up, on the same processors: a callback for each value would take as long as many a step of theirs. */
function checkSums({ rank, size }: Communicator, values: Float32Array): void {
  const ranks = (size * (size - 1)) / 2;
  for (let i = 0; i < values.length; i += 1)
    if (values[i] !== ranks + size * (i % 7)) throw new Error(`rank ${rank}: sum ${i} is ${values[i]}`);
}

// ---- The grid: each process has a block of it, with a border for its neighbours' edges. What leaves on one side comes in on the other.

class Block {
  readonly width: number;
  #cells: Float32Array;
  #next: Float32Array;

  constructor(
    readonly columns: number,
    readonly rows: number,
  ) {
    this.width = columns + 2;
    this.#cells = floats(this.width * (rows + 2));
    this.#next = floats(this.width * (rows + 2));
  }

  /** @param x, y -1 and the last but one are the border */
  index(x: number, y: number): number {
    return (y + 1) * this.width + x + 1;
  }

  get cells(): Float32Array {
    return this.#cells;
  }

  row(y: number): Float32Array {
    return this.#cells.subarray(this.index(0, y), this.index(this.columns, y));
  }

  column(x: number): Float32Array {
    const values = floats(this.rows);
    for (let y = 0; y < this.rows; y += 1) values[y] = this.#cells[this.index(x, y)];
    return values;
  }

  setColumn(x: number, values: Float32Array): void {
    for (let y = 0; y < this.rows; y += 1) this.#cells[this.index(x, y)] = values[y];
  }

  /** Each cell becomes the mean of its neighbours. */
  relax(): void {
    const { columns, rows, width } = this;
    const from = this.#cells;
    const to = this.#next;
    for (let y = 0; y < rows; y += 1)
      for (let x = 0, i = this.index(0, y); x < columns; x += 1, i += 1)
        to[i] = (from[i - width] + from[i + width] + from[i - 1] + from[i + 1]) / 4;
    [this.#cells, this.#next] = [to, from];
  }
}

/** The value of a cell in the beginning. */
function initial(x: number, y: number): number {
  return (x * 31 + y * 17) % 101;
}

/** As many columns as rows of processes, as far as it goes. */
function columnsFor(size: number): number {
  let rows = Math.floor(Math.sqrt(size));
  while (size % rows !== 0) rows -= 1;
  return size / rows;
}

/** @returns how long a step took, in microseconds, when all cells were right */
async function timeHalo(all: Communicator, cells: number, steps: number): Promise<number> {
  const across = columnsFor(all.size);
  const down = all.size / across;
  const [column, row] = [all.rank % across, Math.floor(all.rank / across)];
  const at = (x: number, y: number): number => ((y + down) % down) * across + ((x + across) % across);
  const neighbours = {
    up: at(column, row - 1),
    down: at(column, row + 1),
    left: at(column - 1, row),
    right: at(column + 1, row),
  };
  const block = new Block(cells, cells);
  for (let y = 0; y < cells; y += 1)
    for (let x = 0; x < cells; x += 1) block.cells[block.index(x, y)] = initial(column * cells + x, row * cells + y);
  const [leftEdge, rightEdge] = [floats(cells), floats(cells)];
  await all.barrier();
  const begun = performance.now();
  for (let step = 0; step < steps; step += 1) {
    await Promise.all([
      all.receive(neighbours.up, Kind.DOWN, bytesOf(block.row(-1))),
      all.receive(neighbours.down, Kind.UP, bytesOf(block.row(cells))),
      all.receive(neighbours.left, Kind.RIGHT, bytesOf(leftEdge)),
      all.receive(neighbours.right, Kind.LEFT, bytesOf(rightEdge)),
      all.send(neighbours.up, Kind.UP, bytesOf(block.row(0))),
      all.send(neighbours.down, Kind.DOWN, bytesOf(block.row(cells - 1))),
      all.send(neighbours.left, Kind.LEFT, bytesOf(block.column(0))),
      all.send(neighbours.right, Kind.RIGHT, bytesOf(block.column(cells - 1))),
    ]);
    block.setColumn(-1, leftEdge);
    block.setColumn(cells, rightEdge);
    block.relax();
  }
  const elapsedMs = performance.now() - begun;
  if (all.rank === 0) await checkGrid(all, block, across, steps);
  else await all.send(0, Kind.BLOCK, bytesOf(block.cells));
  return (elapsedMs * 1000) / steps;
}

/** Has all blocks come, and computes the whole grid in one process. */
async function checkGrid(all: Communicator, own: Block, across: number, steps: number): Promise<void> {
  const cells = own.columns;
  const whole = new Block(cells * across, (cells * all.size) / across);
  const { columns, rows } = whole;
  for (let y = 0; y < rows; y += 1) for (let x = 0; x < columns; x += 1) whole.cells[whole.index(x, y)] = initial(x, y);
  for (let step = 0; step < steps; step += 1) {
    whole.row(-1).set(whole.row(rows - 1));
    whole.row(rows).set(whole.row(0));
    const [first, last] = [whole.column(0), whole.column(columns - 1)];
    whole.setColumn(-1, last);
    whole.setColumn(columns, first);
    whole.relax();
  }
  for (let rank = 0; rank < all.size; rank += 1) {
    const values = rank === 0 ? own.cells : floats(own.cells.length);
    if (rank > 0) await all.receive(rank, Kind.BLOCK, bytesOf(values));
    const [left, top] = [(rank % across) * cells, Math.floor(rank / across) * cells];
    for (let y = 0; y < cells; y += 1)
      for (let x = 0; x < cells; x += 1)
        if (values[own.index(x, y)] !== whole.cells[whole.index(left + x, top + y)])
          throw new Error(`cell ${x}, ${y} of rank ${rank} is wrong`);
  }
}

// ---- A process of the run: does what the launcher says.

type Order =
  | {
      readonly what: 'allreduce';
      readonly bytes: number;
      readonly rounds: number;
      readonly warmUp: number;
      readonly isRing: boolean;
    }
  | { readonly what: 'halo'; readonly cells: number; readonly steps: number };

/** A NIC has a thread of its own, unless all of them and the programs are more threads than there are processors: then they would stand in each other's way. */
function openFor(ranks: number): Context {
  const isSaid = (process.env['VERBENA_HOST'] ?? '') !== '';
  if (isSaid || 2 * ranks <= availableParallelism()) return openDevice();
  try {
    return openDevice({ host: 'inline' });
  } catch (error) {
    // It takes system calls that not every machine lets Node make.
    if (error instanceof VerbsError && error.errno === 'ENOSYS') return openDevice();
    throw error;
  }
}

async function beRank(rank: number, ranks: number, transport: 'rc' | 'ud'): Promise<void> {
  // Whoever has started it, and the others, may be gone.
  process.once('disconnect', () => process.exit(1));
  const tell = (message: object): void => void process.send?.(message);
  using context = openFor(ranks);
  using worker = new UcpWorker(context, { transport });
  const listener = worker.listen({}, () => undefined);
  tell({ address: listener.address });
  const [addresses] = (await once(process, 'message')) as [readonly Address[]];
  const endpoints: UcpEndpoint[] = [];
  for (const [other, address] of addresses.entries())
    endpoints.push(other === rank ? worker.connectToSelf() : await worker.connect(address));
  const all = new Communicator(worker, rank, endpoints);
  tell({ us: 0 });
  for (;;) {
    const [order] = (await once(process, 'message')) as [Order];
    const us =
      order.what === 'allreduce' ? await timeAllreduce(all, order) : await timeHalo(all, order.cells, order.steps);
    tell({ us });
  }
}

// ---- The launcher.

interface Result {
  readonly bytes: number;
  readonly us: number;
  readonly busMBs: number;
}

class Launcher {
  readonly #ranks: readonly ChildProcess[];

  constructor(size: number, transport: string) {
    // Each has an address of its own.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => name !== 'VERBENA_ADDR'));
    this.#ranks = Array.from({ length: size }, (_, rank) => {
      const child = fork(process.argv[1], ['rank', String(rank), String(size), transport], { env });
      child.once('exit', () => this.#fail(`rank ${rank} has ended`));
      return child;
    });
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => {
        this.end();
        process.exit(130);
      });
  }

  /** All processes know of each other. */
  async connect(): Promise<void> {
    const told = (await Promise.all(this.#ranks.map((rank) => once(rank, 'message')))) as [{ address: Address }][];
    await this.#ask(told.map(([{ address }]) => address));
  }

  /** Has all do something together. @returns how long the slowest took, in microseconds */
  async #ask(message: object): Promise<number> {
    const answers = Promise.all(this.#ranks.map((rank) => once(rank, 'message')));
    for (const rank of this.#ranks) rank.send(message);
    return Math.max(...((await answers) as [{ us: number }][]).map(([{ us }]) => us));
  }

  order(order: Order): Promise<number> {
    return this.#ask(order);
  }

  end(): void {
    for (const rank of this.#ranks) rank.removeAllListeners('exit').kill('SIGKILL');
  }

  #fail(why: string): void {
    this.end();
    console.error(why);
    process.exit(1);
  }
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

/** Bandwidth over size, on logarithmic axes. */
function plot(results: readonly Result[], title: string): string {
  const [left, top, width, height] = [80, 50, 600, 360];
  const scale = (values: readonly number[], base: number): ((value: number) => number) => {
    const logs = values.map((value) => Math.log(value) / Math.log(base));
    const [low, high] = [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs) + 0.01)];
    return (value) => (Math.log(value) / Math.log(base) - low) / (high - low);
  };
  const toX = scale(
    results.map(({ bytes }) => bytes),
    2,
  );
  const toY = scale(
    results.map(({ busMBs }) => busMBs),
    10,
  );
  const points = results.map((result) => {
    const [x, y] = [left + width * toX(result.bytes), top + height * (1 - toY(result.busMBs))].map(Math.round);
    return { x, y, ...result };
  });
  const labels = points.map(
    ({ x, y, bytes, busMBs }) =>
      `<circle cx="${x}" cy="${y}" r="4"/><text x="${x}" y="${y - 10}">${busMBs.toFixed(0)}</text>` +
      `<text x="${x}" y="${top + height + 20}">${sizeText(bytes)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${left + width + 40} ${top + height + 40}">
<style>text { font: 12px sans-serif; text-anchor: middle } polyline, path { fill: none; stroke: #06c; stroke-width: 2 } path { stroke: #999 }</style>
<text x="${left + width / 2}" y="20">${title}: bus bandwidth in MB/s by bytes, both logarithmic</text>
<path d="M${left} ${top}v${height}h${width}"/>
<polyline points="${points.map(({ x, y }) => `${x},${y}`).join(' ')}"/>
${labels.join('\n')}
</svg>
`;
}

function sizeText(bytes: number): string {
  if (bytes >= 1 << 20) return `${bytes / (1 << 20)} MiB`;
  return bytes >= 1 << 10 ? `${bytes / (1 << 10)} KiB` : `${bytes} B`;
}

const USAGE = `usage: node allreduce.js [options]

  --ranks N          processes, 1 to 64 (8)
  --sizes N,N,...    bytes of the array that is added up, multiples of 4, such as 8,64k,1m (1024 to 4194304)
  --ring-from N      from how many bytes on it goes by a ring; otherwise, and for 2, 4, 8, ... processes only, in pairs (32768)
  --rounds N         how often each is measured (20)
  --warm-up N        how often at most it is done before (100)
  --cells N          cells of a process along an edge of the grid of the halo exchange (128)
  --steps N          steps of the halo exchange (50)
  --transport NAME   how messages go: rc or ud (rc)
  --json, --svg FILE print one JSON object in place of the table; write the bus bandwidth by size to FILE, as a plot`;

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1 << 10, m: 1 << 20 };

/** A whole number, also as `64k` or `1m`. @param step of which it is a multiple */
function numberOf(option: string, text: string, least: number, most = 1 << 30, step = 1): number {
  const [, digits, unit] = /^(\d+)([km]?)$/.exec(text) ?? ['', NaN, ''];
  const value = Number(digits) * UNITS[unit];
  if (value >= least && value <= most && value % step === 0) return value;
  throw new Error(`--${option} is '${text}'; give a multiple of ${step}, ${least} to ${most}`);
}

const OPTIONS = {
  ranks: { type: 'string', default: '8' },
  sizes: { type: 'string', default: '1024,8192,65536,524288,4194304' },
  'ring-from': { type: 'string', default: '32768' },
  rounds: { type: 'string', default: '20' },
  'warm-up': { type: 'string', default: '100' },
  cells: { type: 'string', default: '128' },
  steps: { type: 'string', default: '50' },
  transport: { type: 'string', default: 'rc' },
  json: { type: 'boolean', default: false },
  svg: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  const ranks = numberOf('ranks', values.ranks, 1, 64);
  const sizes = values.sizes.split(',').map((text) => numberOf('sizes', text, FLOAT_BYTES, 1 << 30, FLOAT_BYTES));
  const [rounds, mostWarmUp] = [numberOf('rounds', values.rounds, 1), numberOf('warm-up', values['warm-up'], 0)];
  const [cells, steps] = [numberOf('cells', values.cells, 1, 4096), numberOf('steps', values.steps, 1)];
  const longest = numberOf('ring-from', values['ring-from'], 0);
  const { transport } = values;
  if (transport !== 'rc' && transport !== 'ud') throw new Error(`--transport is '${transport}'; give rc or ud`);
  const launcher = new Launcher(ranks, transport);
  progress(`${ranks} processes connect`);
  await launcher.connect();
  const results: Result[] = [];
  // Whole arrays go to and fro between pairs.
  const ringFrom = Number.isInteger(Math.log2(ranks)) ? longest : 0;
  const title = `allreduce of float32 by ${ranks} processes over ${transport}, a ring from ${ringFrom} bytes on`;
  if (!values.json) console.log(`${title}\n${'bytes'.padStart(10)}${'µs'.padStart(12)}${'bus MB/s'.padStart(12)}`);
  for (const bytes of sizes) {
    progress(`allreduce of ${sizeText(bytes)}`);
    const warmUp = Math.max(LEAST_WARM_UP, Math.min(mostWarmUp, Math.ceil(WARM_UP_BYTES / bytes)));
    const us = await launcher.order({ what: 'allreduce', bytes, rounds, warmUp, isRing: bytes >= ringFrom });
    const busMBs = (2 * bytes * (ranks - 1)) / ranks / us;
    results.push({ bytes, us, busMBs });
    progress('');
    if (!values.json)
      console.log(`${bytes}`.padStart(10) + us.toFixed(1).padStart(12) + busMBs.toFixed(1).padStart(12));
  }
  progress('halo exchange');
  const us = await launcher.order({ what: 'halo', cells, steps });
  progress('');
  launcher.end();
  const across = columnsFor(ranks);
  const halo = { across, down: ranks / across, cells, steps, us };
  if (values.json) console.log(JSON.stringify({ ranks, transport, rounds, allreduce: results, halo }));
  else {
    console.log(
      `halo exchange: ${across} x ${halo.down} processes of ${cells} x ${cells} cells: ${us.toFixed(1)} µs a step`,
    );
    console.log('every sum and every cell was right');
  }
  if (values.svg !== undefined) writeFileSync(values.svg, plot(results, title));
}

const [role, rank, ranks, transport] = process.argv.slice(2);
const running = role === 'rank' ? beRank(Number(rank), Number(ranks), transport === 'ud' ? 'ud' : 'rc') : main();
running.catch((error: unknown) => {
  console.error(error instanceof Error && role !== 'rank' ? `${error.message} (--help says what there is)` : error);
  process.exit(1);
});
