import { Command } from 'commander';
import { type AsyncEvent, EventType } from '../../entry/index.js';
import { attempt, tool, ToolError } from '../kit/errors.js';
import { type HostingOptions, openOptions, withHosting } from '../kit/options.js';
import { findDevice } from './devices.js';

interface WatchOptions extends HostingOptions {
  readonly ibDev?: string;
  readonly json?: true;
}

/** The program's own objects have no part here, so their events would be none that it expects. */
const OF_THE_DEVICE = [
  'DEVICE_FATAL',
  'PORT_ACTIVE',
  'PORT_ERR',
  'LID_CHANGE',
  'PKEY_CHANGE',
  'SM_CHANGE',
  'CLIENT_REREGISTER',
  'GID_CHANGE',
  'DEVICE_SPEED_CHANGE',
] as const satisfies readonly (keyof typeof EventType)[];

/** What the C tool prints of an event. */
export function factsOf(event: AsyncEvent): { name: string; eventType: number; port: number } {
  const { eventType } = event;
  const name = OF_THE_DEVICE.find((known) => EventType[known] === eventType);
  return {
    name: name === undefined ? 'unexpected' : `IBV_EVENT_${name}`,
    eventType,
    port: 'portNum' in event ? event.portNum : 0,
  };
}

async function watch(options: WatchOptions): Promise<void> {
  const device = findDevice(options.ibDev, (name) => new ToolError(`IB device ${name} not found`));
  const context = attempt(`Couldn't get context for ${device.name}`, () => device.open(openOptions(options)));
  const write = (text: string, facts: object): void => {
    process.stdout.write(`${options.json === true ? JSON.stringify(facts) : text}\n`);
  };
  // Where the C tool tells its descriptor: events come by memory here.
  write(`${device.name}: async events of the device at ${context.address}`, {
    device: device.name,
    address: context.address,
  });
  for await (const event of context.asyncEvents()) {
    const facts = factsOf(event);
    write(`  event_type ${facts.name} (${facts.eventType}), port ${facts.port}`, facts);
    context.ackAsyncEvent(event);
  }
}

export function command(): Command {
  return withHosting(
    new Command('ibv_asyncwatch')
      .description("Print what happens to a device's port, as it happens, until Ctrl-C.")
      .option('-d, --ib-dev <dev>', 'use IB device <dev> (default first device found)')
      .option('--json', 'print one JSON object a line'),
  ).action(tool(watch));
}
