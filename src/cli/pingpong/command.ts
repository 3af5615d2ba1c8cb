import { Command } from 'commander';
import { type Context, Mtu, mtuBytes } from '../../entry/index.js';
import { findDevice } from '../devices/devices.js';
import { tool as asTool, attempt, ToolError } from '../kit/errors.js';
import { endOnInterrupt } from '../kit/interrupt.js';
import { connectToServer, Listener } from './exchange/bootstrap.js';
import { exchangeAsClient, exchangeAsServer } from './exchange/exchange.js';
import { type PingPongFlags, withFlags } from './flags.js';
import { PingPong } from './loop/ping-pong.js';
import { openFor } from './local-address.js';
import { RC_ODP, refuseUnsupported, SRQ_ODP } from './loop/memory.js';
import { Endpoint } from './loop/endpoint.js';
import { Report } from './loop/report.js';
import { MAX_QP, PING_PONGS, type PingPongTool } from './tools.js';

/** Refuses what cannot be, in the words of the C tools. */
function refuseNonsense({ rxDepth, numQp = 1, ...flags }: PingPongFlags): void {
  const odp = flags.odp === true || flags.iodp === true;
  if (odp && flags.dm === true) throw new ToolError("DM memory region can't be on demand");
  if (flags.allowCcUnprotected === true && odp) {
    throw new ToolError('CoCo unprotected memory cannot be used with ODP');
  }
  if (flags.allowCcUnprotected === true && flags.dm === true) {
    throw new ToolError('CoCo unprotected memory cannot be used with device memory');
  }
  if (!odp && flags.prefetch === true) throw new ToolError('prefetch is valid only with on-demand memory region');
  if (flags.allowCcUnprotected === true) throw new ToolError("Couldn't allocate parent domain");
  if (numQp > rxDepth) {
    throw new ToolError(`rx_depth ${rxDepth} is too small for ${numQp} QPs -- must have at least one receive per QP.`);
  }
  if (numQp >= MAX_QP) throw new ToolError(`num_qp ${numQp} must be less than ${MAX_QP}`);
}

/** A datagram is one packet, so it cannot be longer than the link's. */
function refuseLong(context: Context, { size, ibPort }: PingPongFlags): void {
  const port = attempt(`Unable to query port info for port ${ibPort}`, () => context.queryPort(ibPort));
  const mtu = mtuBytes(port.activeMtu);
  if (size > mtu) throw new ToolError(`Requested size larger than port MTU (${mtu})`);
}

async function pingPong(tool: PingPongTool, host: string | undefined, flags: PingPongFlags): Promise<void> {
  refuseNonsense(flags);
  const underWay: { report?: () => void } = {};
  endOnInterrupt(() => underWay.report?.());
  const { size: sizeBytes, iters: iterations, rxDepth, numQp: qps = 1 } = flags;
  const device = findDevice(flags.ibDev, (name) => new ToolError(`IB device ${name} not found`));
  const toServer = host === undefined ? undefined : await connectToServer(host, flags.port);
  const listener = toServer === undefined ? await Listener.open(flags.port) : undefined;
  const context = await openFor(device, toServer, flags, flags.events !== true);
  const timestamps = flags.ts === true;
  const wishes = {
    odp: flags.odp === true || flags.iodp === true,
    implicitOdp: flags.iodp === true,
    prefetch: flags.prefetch === true,
    timestamps,
    deviceMemory: flags.dm === true,
  };
  refuseUnsupported(context, wishes, tool.shared ? SRQ_ODP : RC_ODP);
  if (tool.service.headerBytes > 0) refuseLong(context, flags);
  const endpoint = new Endpoint(context, tool, {
    sizeBytes,
    rxDepth,
    qps,
    pathMtu: flags.mtu ?? Mtu.MTU_1024,
    serviceLevel: flags.sl,
    portNum: flags.ibPort,
    sgidIndex: flags.gidIdx ?? 0,
    events: flags.events === true,
    newSend: flags.new_send === true,
    ...wishes,
  });
  const report = new Report(flags.json === true);
  report.addresses('local', endpoint.local, tool.shared, tool.mark);
  if (toServer !== undefined) {
    const remote = await exchangeAsClient(tool, toServer, endpoint.local);
    report.addresses('remote', remote, tool.shared, ',');
    endpoint.connect(remote);
  } else if (listener !== undefined) {
    const client = await listener.accept();
    listener.close();
    const remote = await exchangeAsServer(tool, client, endpoint.local, (told) => endpoint.connect(told));
    report.addresses('remote', remote, tool.shared, ',');
  }
  const serves = toServer !== undefined;
  const options = { iterations, qps, rxDepth, serves, validate: flags.chk === true, timestamps };
  const game = new PingPong(context, tool, endpoint, options);
  underWay.report = () => {
    const { soFar } = game;
    if (soFar !== undefined) report.result(sizeBytes, soFar, context, true);
  };
  report.result(sizeBytes, await game.run(), context);
  endpoint.close();
  context.close();
}

export function pingPongCommand(name: keyof typeof PING_PONGS): Command {
  const tool = PING_PONGS[name];
  const command = new Command(tool.name).description(
    `Bounce messages between two hosts over ${tool.over}; speaks with the C tool of the same name.\n` +
      'Without a host: start a server and wait for a connection. With one: connect to the server there.',
  );
  return withFlags(command, tool.flags, tool.sizeBytes).action(
    asTool((host: string | undefined, flags: PingPongFlags) => pingPong(tool, host, flags)),
  );
}
