import type { Socket } from 'node:net';
import { Command } from 'commander';
import { type Context, type Cq, Mtu } from '../../../entry/index.js';
import { findDevice } from '../../devices/devices.js';
import { tool, ToolError } from '../../kit/errors.js';
import { gidText } from '../../kit/addresses.js';
import { connectToServer, Listener, readExactly } from '../exchange/bootstrap.js';
import { type FlagName, type PingPongFlags, withFlags } from '../flags.js';
import { openFor } from '../local-address.js';
import { refuseUnsupported, XRC_ODP } from '../loop/memory.js';
import {
  decodeXsrqDestination,
  encodeXsrqDestination,
  XSRQ_DESTINATION_BYTES,
  type XsrqDestination,
} from './destination.js';
import { runXsrq } from './ping-pong.js';
import { XsrqEndpoint } from './endpoint.js';

const FLAGS: readonly FlagName[] = [
  'port',
  'ibDev',
  'ibPort',
  'size',
  'mtu',
  'clients',
  'numTests',
  'sl',
  'events',
  'odp',
  'gidIdx',
];
const SIZE_BYTES = 4096;
const END = Buffer.from('END\0', 'latin1');

/** One peer, as a line of text or as an entry of the JSON object. */
class XsrqReport {
  readonly #peers: Partial<Record<'local' | 'remote', unknown>>[] = [];

  constructor(private readonly json: boolean) {}

  address(which: 'local' | 'remote', index: number, destination: XsrqDestination): void {
    const { lid, recvQpn, sendQpn, psn, srqn } = destination;
    const gid = gidText(destination.gid);
    if (this.json) {
      this.#peers[index] = {
        ...this.#peers.at(index),
        [which]: { lid, recvQpn, sendQpn, psn, srqn, gid },
      };
      return;
    }
    const digits = (value: number, count: number): string => value.toString(16).padStart(count, '0');
    process.stdout.write(
      `${which.padStart(8)}: LID ${digits(lid, 4)}, QPN RECV ${digits(recvQpn, 6)} SEND ${digits(sendQpn, 6)}, ` +
        `PSN ${digits(psn, 6)}, SRQN ${digits(srqn, 6)}, GID ${gid}\n`,
    );
  }

  success(tests: number, context: Context): void {
    const facts = { peers: this.#peers, tests, success: true, counters: context.counters() };
    process.stdout.write(this.json ? `${JSON.stringify(facts)}\n` : 'success\n');
  }
}

async function readDestination(socket: Socket): Promise<XsrqDestination> {
  return decodeXsrqDestination(await readExactly(socket, XSRQ_DESTINATION_BYTES, 'remote address'));
}

async function connectClient(endpoint: XsrqEndpoint, socket: Socket, report: XsrqReport): Promise<void> {
  report.address('local', 0, endpoint.local[0]);
  socket.write(encodeXsrqDestination(endpoint.local[0]));
  const remote = await readDestination(socket);
  report.address('remote', 0, remote);
  endpoint.connect(0, remote);
}

async function connectClients(
  endpoint: XsrqEndpoint,
  listener: Listener,
  clients: number,
  report: XsrqReport,
): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let i = 0; i < clients; i += 1) {
    const socket = await listener.accept();
    sockets.push(socket);
    const remote = await readDestination(socket);
    report.address('remote', i, remote);
    report.address('local', i, endpoint.local[i]);
    endpoint.connect(i, remote);
    socket.write(encodeXsrqDestination(endpoint.local[i]));
  }
  listener.close();
  return sockets;
}

async function readEnd(socket: Socket): Promise<void> {
  const word = await readExactly(socket, END.length, 'remote termination ack');
  if (!word.equals(END)) throw new ToolError('Invalid termination ack was accepted');
}

/** Lets an inline NIC, which lives from being polled, repeat our last acknowledgements while something is awaited. */
async function whilePolled(context: Context, cq: Cq, step: Promise<void>): Promise<void> {
  const timer = context.host === 'inline' ? setInterval(() => cq.poll(1), 1) : undefined;
  try {
    await step;
  } finally {
    clearInterval(timer);
  }
}

/** No side leaves before all have everything: the client says so first, and the server when every client has. */
async function part(sockets: readonly Socket[], serves: boolean): Promise<void> {
  if (!serves) for (const socket of sockets) socket.write(END);
  for (const socket of sockets) await readEnd(socket);
  if (serves) for (const socket of sockets) socket.write(END);
  for (const socket of sockets) socket.end();
}

async function pingPong(host: string | undefined, flags: PingPongFlags): Promise<void> {
  const { size: sizeBytes, num_tests: tests } = flags;
  const serves = host === undefined;
  const clients = serves ? flags.clients : 1;
  const device = findDevice(flags.ibDev, (name) => new ToolError(`IB device ${name} not found`));
  const toServer = host === undefined ? undefined : await connectToServer(host, flags.port);
  const listener = toServer === undefined ? await Listener.open(flags.port) : undefined;
  const context = await openFor(device, toServer, flags, flags.events !== true);
  const odp = flags.odp === true;
  refuseUnsupported(
    context,
    { odp, implicitOdp: false, prefetch: false, timestamps: false, deviceMemory: false },
    XRC_ODP,
  );
  const endpoint = new XsrqEndpoint(context, {
    sizeBytes,
    clients,
    tests,
    pathMtu: flags.mtu ?? Mtu.MTU_1024,
    serviceLevel: flags.sl,
    portNum: flags.ibPort,
    sgidIndex: flags.gidIdx ?? 0,
    events: flags.events === true,
    odp,
  });
  const report = new XsrqReport(flags.json === true);
  const sockets: Socket[] = [];
  if (toServer !== undefined) {
    await connectClient(endpoint, toServer, report);
    sockets.push(toServer);
  } else if (listener !== undefined) {
    sockets.push(...(await connectClients(endpoint, listener, clients, report)));
  }
  await runXsrq(context, endpoint, { clients, tests, serves });
  await whilePolled(context, endpoint.recvCq, part(sockets, serves));
  report.success(tests, context);
  endpoint.close();
  context.close();
}

export function xsrqCommand(): Command {
  const command = new Command('ibv_xsrq_pingpong').description(
    'Bounce messages between a server and one or more clients over extended reliable connections (XRC) that share a\n' +
      'receive queue; speaks with the C tool of the same name.\n' +
      'Without a host: start a server and wait for the clients. With one: connect to the server there.',
  );
  return withFlags(command, FLAGS, SIZE_BYTES).action(
    tool((host: string | undefined, flags: PingPongFlags) => pingPong(host, flags)),
  );
}
