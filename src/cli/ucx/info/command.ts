import { Command, Option } from 'commander';
import type { Context } from '../../../entry/index.js';
import { findDevice, openToAsk } from '../../devices/devices.js';
import { tool, ToolError } from '../../kit/errors.js';
import { type HostingOptions, withHosting } from '../../kit/options.js';
import { packageVersion } from '../../kit/output.js';
import { deviceFacts, devicesText } from './devices.js';
import { TRANSPORTS, type TransportName } from './endpoints.js';
import { objectSizes, objectsText } from './objects.js';
import { settingsFacts, settingsText } from './settings.js';

interface InfoFlags extends HostingOptions {
  readonly v?: true;
  readonly d?: true;
  readonly c?: true;
  readonly f?: true;
  readonly u?: string | true;
  readonly e?: true;
  readonly w?: true;
  readonly t?: TransportName;
  readonly json?: true;
}

/** Whose calls `verbena/ucp` has. */
const API = '1.13';

/** A part of what is to be printed: as facts, and as text. */
interface Part {
  readonly name: string;
  readonly facts: unknown;
  readonly text: string;
}

function version(): Part {
  const facts = {
    version: packageVersion(),
    api: API,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
  };
  const { node, platform } = facts;
  const text = `# Version ${facts.version}\n# Calls of UCX ${API}, by verbena/ucp\n# Node ${node}, ${platform}\n`;
  return { name: 'version', facts, text };
}

async function devices(context: Context, { t }: InfoFlags): Promise<Part> {
  const facts = await deviceFacts(context, t === undefined ? TRANSPORTS : [t]);
  return { name: 'transports', facts, text: devicesText(facts) };
}

function settings({ f }: InfoFlags): Part {
  const facts = settingsFacts();
  return { name: 'settings', facts, text: settingsText(facts, f === true) };
}

async function objects(context: Context, { e, w }: InfoFlags): Promise<Part> {
  const facts = await objectSizes(context);
  const isAll = e === undefined && w === undefined;
  return {
    name: 'objects',
    facts,
    text: objectsText(facts, { worker: isAll || w === true, endpoints: isAll || e === true, memory: isAll }),
  };
}

async function info(flags: InfoFlags): Promise<void> {
  const { v, d, c, u, e, w, t, json } = flags;
  const asksObjects = [u, e, w].some((flag) => flag !== undefined);
  if (!asksObjects && [v, d, c].every((flag) => flag !== true))
    throw new ToolError('Say what to print: -v, -d, -c, -u, -e or -w; --help says what they are.');
  if (t !== undefined && d !== true) throw new ToolError('-t needs -d.');
  const parts = v === true ? [version()] : [];
  if (d === true || asksObjects) {
    const device = findDevice(undefined, (name) => new ToolError(`IB device ${name} not found`));
    const context = openToAsk(device, flags);
    if (d === true) parts.push(await devices(context, flags));
    if (asksObjects) parts.push(await objects(context, flags));
    context.close();
  }
  if (c === true) parts.push(settings(flags));
  // JSON has no infinity.
  const plain = (_: string, value: unknown): unknown => (value === Infinity ? 'inf' : value);
  const all = Object.fromEntries(parts.map(({ name, facts }) => [name, facts]));
  process.stdout.write(json === true ? `${JSON.stringify(all, plain)}\n` : parts.map(({ text }) => text).join(''));
}

export function command(): Command {
  return withHosting(
    new Command('ucx_info')
      .description(
        'Print what UCP is here: its version, its transports and what they do, its settings, what its objects take.',
      )
      .option('-v', 'show version information')
      .option('-d', 'show devices and transports')
      .addOption(new Option('-t <name>', 'with -d: of this transport alone').choices(TRANSPORTS))
      .option('-c', 'show settings, and what they are: those of the environment, otherwise the defaults')
      .option('-f', 'with -c: also what each is for')
      .option(
        '-u [features]',
        'show UCP workers and endpoints: which protocols by which lengths, and what memory they take; with -e or -w these alone. All features are always there, so that UCX’s letters for them change nothing',
      )
      .option('-e', 'show UCP endpoints')
      .option('-w', 'show UCP workers')
      .option('--json', 'print one JSON object'),
  ).action(tool(info));
}
