/** `verbena explain`: what happened on each connection of a capture, and why it failed. */
import { Command } from 'commander';
import { tool } from '../kit/errors.js';
import { processStreams, type StandardStreams } from '../kit/output.js';
import { Cause } from './verdicts/cause.js';
import {
  conversationJson,
  conversationLines,
  exchangeJson,
  exchangeLines,
  failed,
  placementLines,
  storyJson,
  storyLines,
} from './print.js';
import { readCaptures, storiesOf } from './read.js';

export interface ExplainOptions {
  readonly verbose?: boolean;
  readonly json?: boolean;
}

const EXIT_FAILURES = 1;

/** What ends well, or does not show how it ended. */
const GOOD: ReadonlySet<Cause> = new Set([
  Cause.ANSWERED,
  Cause.REPEATED,
  Cause.REPAIRED,
  Cause.ANSWERED_LATE,
  Cause.DISCONNECTED,
  Cause.UNFINISHED,
  Cause.UNACKNOWLEDGED,
  Cause.ARRIVED,
]);

/** Prints what captures of the same traffic show. @returns the exit status. @throws ToolError when a file cannot be read */
export async function explain(
  files: readonly string[],
  options: ExplainOptions,
  streams: StandardStreams,
): Promise<number> {
  const sightings = await readCaptures(files, streams);
  const stories = storiesOf(sightings);
  const notConnected = failed(sightings);
  if (options.json) {
    const objects = [
      ...notConnected.map(conversationJson),
      ...sightings.exchanges.map(exchangeJson),
      ...stories.map(storyJson),
    ];
    for (const each of objects) await streams.print(`${JSON.stringify(each)}\n`);
  } else {
    const parts = [
      placementLines(sightings),
      conversationLines(sightings),
      exchangeLines(sightings, options.verbose === true),
      ...stories.map((story) => storyLines(story, options.verbose === true)),
    ];
    const shown = parts.filter((lines) => lines.length > 0).map((lines) => lines.join('\n'));
    await streams.print(shown.length === 0 ? 'no requests in the capture\n' : `${shown.join('\n\n')}\n`);
  }
  const causes = [...notConnected, ...stories].map(({ verdict }) => verdict.cause);
  return causes.some((cause) => !GOOD.has(cause)) ? EXIT_FAILURES : 0;
}

export function command(): Command {
  return new Command('explain')
    .description(
      'Tell what happened on each connection of a capture: what was asked, lost, refused, and why it failed.',
    )
    .argument(
      'FILE...',
      'pcap or pcapng files of the same traffic: of one side, or better of both; - reads standard input',
    )
    .option('-v, --verbose', 'tell every repeat')
    .option('--json', 'print one JSON object a line for each direction of a connection')
    .addHelpText(
      'after',
      '\nVERBENA_PCAP=FILE records what a program sends and gets. What one side cannot tell (is the peer dead, or are its' +
        '\nanswers lost?) the captures of both can. Exits with 0 when all went well in the end, 1 when something failed,' +
        '\n2 when a file cannot be read.',
    )
    .action(
      tool(async (files: readonly string[], options: ExplainOptions) => {
        process.exitCode = await explain(files, options, processStreams);
      }),
    );
}
