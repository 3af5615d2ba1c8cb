import { Command } from 'commander';
import type { Socket } from 'node:net';
import type { Context } from '../../../entry/index.js';
import { UcpWorker } from '../../../entry/ucp.js';
import { findDevice } from '../../devices/devices.js';
import { connectToServer, Listener } from '../../pingpong/exchange/bootstrap.js';
import { openFor } from '../../pingpong/local-address.js';
import { tool, ToolError } from '../../kit/errors.js';
import { endOnInterrupt } from '../../kit/interrupt.js';
import { pinTo } from '../../kit/spinning.js';
import { Control } from './control.js';
import { planOf, type UcxPerfFlags, withUcxFlags } from './flags.js';
import { Meter } from './meter.js';
import { bytesOf, checkOneSided, type Plan, planFacts, planFrom, type TransportName } from './plan.js';
import { type Half, type Play, turn } from './plays/play.js';
import { Report } from './report.js';
import { playAll } from './run.js';
import { UCX_TESTS } from './tests.js';
import { clientSide, loopbackSides, serverSide } from './sides.js';
import { uctClient, uctLoopback, uctServer } from './uct/sides.js';

/** Has the client connect, and the sides tell each other of their memory. */
function serverHalf(context: Context, plan: Plan, control: Control): Promise<Half> {
  const { test } = plan;
  return test.api === 'UCT' ? uctServer(context, test, plan, control) : serverSide(context, { test, plan }, control);
}

function clientHalf(context: Context, plan: Plan, control: Control): Promise<Half> {
  const { test } = plan;
  return test.api === 'UCT' ? uctClient(context, test, plan, control) : clientSide(context, { test, plan }, control);
}

async function loopbackHalves(context: Context, plan: Plan): Promise<readonly [client: Half, server: Half]> {
  const { test } = plan;
  return test.api === 'UCT' ? await uctLoopback(context, test, plan) : loopbackSides(context, { test, plan });
}

function open(socket: Socket | undefined, flags: UcxPerfFlags): Promise<Context> {
  // A port may be named behind it, as UCX has it; of `self` it is memory.
  const name = flags.d === 'memory' && flags.x === 'self' ? undefined : flags.d?.replace(/:1$/, '');
  const device = findDevice(name, (unknown) => new ToolError(`IB device ${unknown} not found`));
  return openFor(device, socket, flags, true);
}

/** By what messages go where nothing is said: as the environment says. */
function transportOf(context: Context, flags: UcxPerfFlags): TransportName {
  const said = flags.x ?? flags.transport;
  if (said !== undefined) return said;
  using worker = new UcpWorker(context);
  return worker.query().transport;
}

function reportFor({ R: rank, v, f, N, I, json }: UcxPerfFlags): Report {
  const [csv, finalOnly, numeric, explains] = [v, f, N, I].map((flag) => flag === true);
  return new Report({ rank, csv, finalOnly, numeric, explains, json: json === true });
}

function measuredOf({ iterations }: Plan): number {
  return iterations === 0 ? Infinity : iterations;
}

/** What the client does, and what it prints: the same with a server elsewhere and with one in this process. */
class Client {
  readonly #meter: Meter;
  readonly #play: Play;
  #isMeasuring = false;

  constructor(
    private readonly half: Half,
    private readonly report: Report,
    { R: rank }: UcxPerfFlags,
  ) {
    const { plan, play } = half;
    this.#meter = new Meter(bytesOf(plan), rank, plan.test.isPingPong);
    if (play === undefined) throw new Error(`verbena: internal error: ${plan.test.name} has nothing to do`);
    this.#play = play;
  }

  /** @param meet waits for the other side */
  async run(meet: () => Promise<void>): Promise<void> {
    const { plan } = this.half;
    this.report.head(plan);
    await playAll(this.#play, plan.warmUp, plan.outstanding);
    await this.half.flush();
    await meet();
    this.#isMeasuring = true;
    const onStage = (): void => this.report.stage(this.#meter.figures());
    await playAll(this.#play, measuredOf(plan), plan.outstanding, { meter: this.#meter, onStage });
    // What was handed over is not yet there.
    if (!plan.test.isPingPong) await this.half.flush();
    this.tell(false, performance.now());
  }

  /** Prints what there is. @param endMs when the last was done */
  tell(isInterrupted: boolean, endMs = this.#meter.nowMs): void {
    if (!this.#isMeasuring) {
      if (isInterrupted) this.report.nothing(this.half.plan);
      return;
    }
    const { half } = this;
    this.report.final(half.plan, this.#meter.figures(endMs), half.explain(), isInterrupted);
  }
}

async function beClient(host: string, flags: UcxPerfFlags): Promise<void> {
  const wanted = planOf(flags);
  const report = reportFor(flags);
  const socket = await connectToServer(host, flags.p, flags[6] === true ? 6 : undefined);
  const control = new Control(socket, 'server');
  const context = await open(socket, flags);
  const plan = { ...wanted, transport: transportOf(context, flags) };
  checkOneSided(plan);
  control.say(planFacts(plan));
  const half = await clientHalf(context, plan, control);
  const client = new Client(half, report, flags);
  const leave = (): void => {
    control.say({ done: true });
    control.close();
    half.close();
    context.close();
  };
  endOnInterrupt(() => {
    client.tell(true);
    leave();
  });
  await control.meet();
  try {
    await Promise.race([client.run(() => control.meet()), control.left]);
  } catch (error) {
    // What was measured before is worth having.
    client.tell(true);
    throw error;
  }
  leave();
}

async function beServer(flags: UcxPerfFlags): Promise<void> {
  const report = reportFor(flags);
  const listener = await Listener.open(flags.p);
  const context = await open(undefined, serverHosting(flags));
  endOnInterrupt(() => context.close());
  report.waiting();
  const socket = await listener.accept();
  listener.close();
  report.accepted(`${(socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, '')}:${socket.remotePort}`);
  const control = new Control(socket, 'client');
  const plan = planFrom(await control.hear());
  report.box(plan);
  if (plan.oneSided && context.host === 'inline')
    throw new ToolError(
      'The NIC runs in the thread that is to sleep: give -o, or --host thread, to the server as well.',
    );
  // Who handles messages is known before the client may send: one that nobody handles is dropped.
  const half = await serverHalf(context, plan, control);
  await control.meet();
  const done = plan.oneSided ? sleep(control) : serve(half, control);
  await Promise.race([done, control.left]);
  report.served(plan);
  control.close();
  half.close();
  context.close();
}

/** What a server's own letters say of its NIC: at which address of this machine, and that it is to go on while the program sleeps. */
function serverHosting(flags: UcxPerfFlags): UcxPerfFlags {
  const { addr = process.env['VERBENA_ADDR'] ?? (flags[6] === true ? '::1' : undefined), host, o } = flags;
  return {
    ...flags,
    ...(addr !== undefined && { addr }),
    ...(host === undefined && o === true && { host: 'thread' as const }),
  };
}

const NAP_MS = 20;

/** Holds out the memory until the client says that it has what it wants: the thread sleeps, and looks for that now and then. */
async function sleep(control: Control): Promise<void> {
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  const told = async (): Promise<boolean> => {
    while ((await control.hear())['done'] !== true);
    return true;
  };
  control.say({ here: true });
  const telling = told();
  do Atomics.wait(nobody, 0, 0, NAP_MS);
  while (!(await Promise.race([telling, turn().then(() => false)])));
}

/** Plays the server's side until the client says that it has what it wants. */
async function serve({ plan, play }: Half, control: Control): Promise<void> {
  const run = async (): Promise<void> => {
    if (play !== undefined) await playAll(play, plan.warmUp, plan.outstanding);
    control.say({ here: true });
    if (play !== undefined) await playAll(play, measuredOf(plan), plan.outstanding);
  };
  const told = async (): Promise<void> => {
    while ((await control.hear())['done'] !== true);
  };
  const playing = run();
  playing.catch(() => undefined);
  await Promise.race([told(), playing.then(() => new Promise<never>(() => undefined))]);
}

async function beBoth(flags: UcxPerfFlags): Promise<void> {
  const wanted = planOf(flags);
  if (wanted.oneSided) throw new ToolError('With -l there is no other program that could sleep: no -o.');
  const report = reportFor(flags);
  const context = await open(undefined, flags);
  const plan = { ...wanted, transport: transportOf(context, flags) };
  const [own, other] = await loopbackHalves(context, plan);
  report.box(plan);
  const client = new Client(own, report, flags);
  endOnInterrupt(() => {
    client.tell(true);
    context.close();
  });
  const { play } = other;
  const serving = async (): Promise<void> => {
    if (play === undefined) return;
    await playAll(play, plan.warmUp, plan.outstanding);
    await playAll(play, measuredOf(plan), plan.outstanding);
  };
  await Promise.all([serving(), client.run(() => Promise.resolve())]);
  own.close();
  context.close();
}

const EXAMPLES = `
Tests:
${UCX_TESTS.map(({ name, api, title }) => `  ${name.padEnd(14)}${api} ${title}`).join('\n')}

Two shells, one machine:
  verbena ucx_perftest                                     the server; it does what the client says
  verbena ucx_perftest -t tag_lat 127.0.0.1                the client
  UCX_TLS=ud verbena ucx_perftest -t ucp_put_bw -s 65536 -n 10000 127.0.0.1
  verbena ucx_perftest -t put_lat -x rc -D zcopy 127.0.0.1 a transport by itself`;

export function command(): Command {
  return withUcxFlags(
    new Command('ucx_perftest').description(
      'Measure how fast UCP is, or a transport of it by itself (UCT): tags, puts, gets, atomics, streams and active messages.\n' +
        "Prints what UCX's tool of that name prints; both sides are Verbena's.\n" +
        'Without a server: be one. With one: connect to it, and run a test.',
    ),
  )
    .addHelpText('after', EXAMPLES)
    .action(
      tool((server: string | undefined, flags: UcxPerfFlags) => {
        if (flags.c !== undefined) pinTo(flags.c);
        if (flags.l !== true) return server === undefined ? beServer(flags) : beClient(server, flags);
        if (server !== undefined) throw new ToolError('With -l the process communicates with itself: give no server.');
        return beBoth(flags);
      }),
    );
}
