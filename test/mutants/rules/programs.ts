import type { Mutant } from '../mutant.js';

const SOURCE = 'docs/internals/run.md';

/** What C programs may do. */
export const programs: readonly Mutant[] = [
  {
    name: 'run-handles',
    rule: 'a handle that names nothing is refused',
    source: SOURCE,
    in: 'Handles.get',
    from: "if (object === undefined) throw new Refusal('EINVAL');",
    to: '',
    games: ['fuzz-run'],
  },
  {
    name: 'run-frame',
    rule: 'a frame that is too short for a command is refused',
    source: SOURCE,
    in: 'invoke',
    from: "if (code.length < COMMAND_BYTES) throw new Refusal('EINVAL');",
    to: '',
    games: ['fuzz-run'],
  },
  {
    name: 'run-events-end',
    rule: 'with a device its file of events ends',
    source: SOURCE,
    in: 'GuestContext.close',
    from: 'this.asyncEvents.close();',
    to: '',
    games: ['fuzz-run'],
  },
  {
    name: 'run-identifier-ends',
    rule: "with a program's event channel its identifiers end",
    source: SOURCE,
    in: 'UcmaFile.close',
    from: 'for (const identifier of this.identifiers.of(this)) this.#end(identifier);',
    to: '',
    games: ['fuzz-run'],
  },
  {
    name: 'run-rights',
    rule: 'memory is registered with the rights that were asked for, and with no more',
    source: SOURCE,
    in: 'registerProgramMemory',
    from: '{ iova, access });',
    to: '{ iova, access: access | 15 });',
    games: ['fuzz-run'],
  },
  {
    name: 'run-rights-of-peers',
    rule: 'what a program registers for itself to write to, its peers have no right to',
    source: SOURCE,
    in: 'registerProgramMemory',
    from: '{ iova, access });',
    to: '{ iova, access: access | ((access & 1) * 14) });',
    games: ['fuzz-run'],
  },
];
