import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { ToolError, tool } from './errors.js';

const LABS = new Map([
  ['a', 'two queue pairs in one program'],
  ['c', 'two hosts: connection info over TCP, then send, write and read'],
]);

async function runLab(name: string, args: readonly string[]): Promise<void> {
  const lab = name.toLowerCase().replace(/^lab-?/, '');
  if (!LABS.has(lab)) throw new ToolError(`There is no lab '${name}'; there are: ${[...LABS.keys()].join(', ')}.`);
  const program = fileURLToPath(new URL(`../../labs/lab-${lab}.js`, import.meta.url));
  if (!existsSync(program)) throw new ToolError(`${program} is missing; run \`npm run build\` first.`);
  // A process of its own: a lab is a whole program, to be read and run as one.
  const runner = fileURLToPath(new URL('./lab-process.js', import.meta.url));
  const child = spawn(process.execPath, ['--enable-source-maps', runner, program, ...args], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
}

export function command(): Command {
  return new Command('lab')
    .description('Run one of the teaching programs; labs/lab-NAME.ts is its text, labs/lab-NAME.md explains it.')
    .argument('<name>', [...LABS].map(([name, what]) => `${name}: ${what}`).join('; '))
    .argument('[args...]', "the lab's own arguments, such as `server` or the server's host")
    .passThroughOptions()
    .addHelpText('after', '\nExamples:\n  verbena lab a\n  verbena lab c server\n  verbena lab c 127.0.0.1')
    .action(tool(runLab));
}
