import { VerbsError } from '../../api/verbs/index.js';
import type { Struct, Writable } from '../../device/wire/index.js';
import type { Identifier } from './identifier.js';
import type { UcmaFile } from './ucma-file.js';

export interface Done<A> {
  readonly answer: Writable<A>;
  /** Takes back what was done, where the program cannot be told of it. */
  undo?(): void;
}

/** Of a command whose time has not come: the program waits, or is told EAGAIN where it does not want to. */
export const NOT_YET = Symbol('not yet');

export interface Response {
  readonly address: bigint;
  readonly bytes: Uint8Array;
  /** As that of {@link Done}. */
  readonly undo: (() => void) | undefined;
}

/** A command of `/dev/infiniband/rdma_cm`, as `rdma_user_cm.h` has it. */
export interface Command {
  readonly requestBytes: number;
  readonly answerBytes: number;
  /** @throws VerbsError whose errno the program is told */
  run(file: UcmaFile, request: Uint8Array): Response | typeof NOT_YET | undefined;
}

interface Asked<Q> {
  readonly file: UcmaFile;
  readonly request: Q;
  /** The call of librdmacm that comes to it. */
  readonly call: string;
}

interface AskedOf<Q> extends Asked<Q> {
  readonly identifier: Identifier;
}

export function answering<Q extends { readonly response: bigint }, A>(
  call: string,
  layout: Struct<Q>,
  answer: Struct<A>,
  act: (asked: Asked<Q>) => Done<A> | typeof NOT_YET,
): Command {
  return {
    requestBytes: layout.bytes,
    answerBytes: answer.bytes,
    run: (file, bytes) => {
      const request = layout.readPadded(bytes);
      // Before anything takes effect: an effect that cannot be reported would look like a failure.
      if (!file.parts.canWriteMemory(request.response, answer.bytes))
        throw new VerbsError(call, { errno: 'EFAULT', message: 'the answer cannot be written there', advice: '' });
      const done = act({ file, request, call });
      if (done === NOT_YET) return NOT_YET;
      return { address: request.response, bytes: answer.encodePadded(done.answer), undo: done.undo?.bind(done) };
    },
  };
}

export function answeringOf<Q extends { readonly response: bigint; readonly id: number }, A>(
  call: string,
  layout: Struct<Q>,
  answer: Struct<A>,
  act: (asked: AskedOf<Q>) => Done<A>,
): Command {
  return answering(call, layout, answer, (asked) => act({ ...asked, identifier: identifierOf(asked) }));
}

export function doing<Q extends { readonly id: number }>(
  call: string,
  layout: Struct<Q>,
  act: (asked: AskedOf<Q>) => void,
): Command {
  return {
    requestBytes: layout.bytes,
    answerBytes: 0,
    run: (file, bytes) => {
      const asked = { file, request: layout.readPadded(bytes), call };
      act({ ...asked, identifier: identifierOf(asked) });
      return undefined;
    },
  };
}

function identifierOf({ file, request, call }: Asked<{ readonly id: number }>): Identifier {
  return file.identifiers.get(call, request.id, file);
}
