import { pathToFileURL } from 'node:url';
import { isDebugging, systemCode } from '../kit/tool-error.js';

// Runs a lab, started by `verbena lab`. An uncaught error is printed as a sentence with its place in the lab.

function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (isDebugging()) return error.stack ?? error.message;
  const place = /labs\/lab-[\w-]+\.ts:\d+/.exec(error.stack ?? '')?.[0];
  // The lab has the package from elsewhere; its errors have a code, as the system's have.
  const known = systemCode(error) !== undefined || error.name === 'Error';
  return `${known ? error.message : `${error.name}: ${error.message}`}${place === undefined ? '' : `\n  at ${place}`}`;
}

process.on('uncaughtException', (error) => {
  // A reader that left early (`verbena lab a | head`) is no failure of the lab.
  if (systemCode(error) === 'EPIPE') process.exit(0);
  process.stderr.write(`${sentenceOf(error)}\n`);
  process.exit(1);
});

// `verbena lab` has ended, perhaps by SIGKILL: nobody is left to end the lab.
process.on('disconnect', () => process.exit(1));
// That channel alone does not keep the lab alive.
process.channel?.unref();

// The lab finds its own arguments where a program expects them.
process.argv.splice(1, 1);
await import(pathToFileURL(process.argv[1]).href);
