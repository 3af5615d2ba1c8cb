/** `verbena explain`: what happened on each connection of a capture, and why it failed. */
import { Command } from 'commander';
import { tool } from '../kit/errors.js';
import { processStreams, type StandardStreams } from '../kit/output.js';
import {
  congestionJson,
  congestionLines,
  congestionOf,
  conversationJson,
  conversationLines,
  exchangeJson,
  exchangeLines,
  failed,
  fileJson,
  fileNotes,
  placementLines,
  storyJson,
  storyLines,
} from './print.js';
import { readCaptures, storiesOf } from './read.js';
import { type Cause, GOOD } from './verdicts/cause.js';

export interface ExplainOptions {
  readonly verbose?: boolean;
  readonly json?: boolean;
}

const EXIT_FAILURES = 1;
const EXIT_UNREADABLE = 2;

/** Prints what captures of the same traffic show. @returns the exit status. @throws ToolError when a file cannot be read */
export async function explain(
  files: readonly string[],
  options: ExplainOptions,
  streams: StandardStreams,
): Promise<number> {
  const { json = false, verbose = false } = options;
  const sightings = await readCaptures(files, streams);
  const notConnected = failed(sightings);
  const congestion = congestionOf(sightings);
  const causes: Cause[] = notConnected.map(({ verdict }) => verdict.cause);
  let parts = 0;
  const printJson = async (objects: readonly unknown[]): Promise<void> => {
    for (const each of objects) await streams.print(`${JSON.stringify(each)}\n`);
  };
  const printLines = async (lines: readonly string[]): Promise<void> => {
    if (lines.length === 0) return;
    await streams.print(`${parts === 0 ? '' : '\n'}${lines.join('\n')}\n`);
    parts += 1;
  };
  if (json) {
    await printJson(sightings.files.map(fileJson).filter((file) => file !== undefined));
    await printJson(sightings.warnings.map(({ fields }) => fields));
    await printJson(sightings.placements.map((placement) => ({ placement })));
    await printJson(notConnected.map(conversationJson));
    await printJson(congestion.map(congestionJson));
    await printJson(sightings.exchanges.map(exchangeJson));
  } else {
    const warnings = sightings.warnings.map(({ text }) => text);
    for (const note of [...sightings.files.flatMap(fileNotes), ...warnings]) streams.complain(`${note}\n`);
    await printLines(placementLines(sightings));
    await printLines(conversationLines(sightings, notConnected));
    await printLines(congestionLines(congestion));
    await printLines(exchangeLines(sightings, verbose));
  }
  // One connection after the other, so that only the packets of one are looked at.
  for (const story of storiesOf(sightings)) {
    causes.push(story.verdict.cause);
    if (json) await printJson([storyJson(story)]);
    else await printLines(storyLines(story, verbose));
  }
  if (parts === 0 && !json) await streams.print('no requests in the capture\n');
  if (causes.some((cause) => !GOOD.has(cause))) return EXIT_FAILURES;
  return sightings.files.some(({ failure }) => failure !== undefined) ? EXIT_UNREADABLE : 0;
}

export function command(): Command {
  return new Command('explain')
    .description(
      'Tell what happened on each connection of a capture: what was asked, lost, refused, and why it failed.',
    )
    .argument(
      'FILE...',
      'pcap or pcapng files of the same traffic, also compressed by gzip: of one side, or better of both; - reads standard input',
    )
    .option('-v, --verbose', 'tell every repeat')
    .option('--json', 'print one JSON object a line for each direction of a connection')
    .addHelpText(
      'after',
      '\nVERBENA_PCAP=FILE records what a program sends and gets. What one side cannot tell (is the peer dead, or are its' +
        '\nanswers lost?) the captures of both can. Exits with 0 when all went well in the end, 1 when something failed' +
        '\nor was never answered, 2 when a file cannot be read to its end.',
    )
    .action(
      tool(async (files: readonly string[], options: ExplainOptions) => {
        process.exitCode = await explain(files, options, processStreams);
      }),
    );
}
