/** `verbena explain`: what happened on each connection of a capture, and why it failed. */
import { Command } from 'commander';
import { tool } from '../shared/errors.js';
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

interface ExplainOptions {
  readonly verbose?: true;
  readonly json?: true;
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

async function explain(files: readonly string[], options: ExplainOptions): Promise<void> {
  const sightings = await readCaptures(files);
  const stories = storiesOf(sightings);
  const notConnected = failed(sightings);
  if (options.json) {
    for (const each of notConnected) process.stdout.write(`${JSON.stringify(conversationJson(each))}\n`);
    for (const each of sightings.exchanges) process.stdout.write(`${JSON.stringify(exchangeJson(each))}\n`);
    for (const story of stories) process.stdout.write(`${JSON.stringify(storyJson(story))}\n`);
  } else {
    const parts = [
      placementLines(sightings),
      conversationLines(sightings),
      exchangeLines(sightings, options.verbose === true),
      ...stories.map((story) => storyLines(story, options.verbose === true)),
    ];
    const shown = parts.filter((lines) => lines.length > 0).map((lines) => lines.join('\n'));
    process.stdout.write(shown.length === 0 ? 'no requests in the capture\n' : `${shown.join('\n\n')}\n`);
  }
  const causes = [...notConnected, ...stories].map(({ verdict }) => verdict.cause);
  if (causes.some((cause) => !GOOD.has(cause))) process.exitCode = EXIT_FAILURES;
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
    .action(tool(explain));
}
