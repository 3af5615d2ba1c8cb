/** Links that carry short packets only: the classic of RoCE, where pings answer and data vanishes. */
import type { Request } from '../requests/requests.js';
import type { Study } from '../requests/study.js';
import { AnswerKind, greatest } from '../requests/answers.js';

/** Ethernet's usual MTU carries path MTUs up to this. */
const ORDINARY_BYTES = 1024;

/** In bytes of data: of all packets that got through, and of those that did not. */
function hint(through: readonly number[], missing: readonly number[]): string {
  if (through.length === 0 || missing.length === 0) return '';
  const throughBytes = greatest(through);
  const missingBytes = -greatest(missing.map((bytes) => -bytes));
  if (missingBytes <= Math.max(throughBytes, ORDINARY_BYTES)) return '';
  const short = throughBytes === 0 ? 'without data' : `with ${throughBytes} bytes of data at most`;
  return (
    `packets ${short} got through, and none with ${missingBytes}: ` +
    'does every link on the way carry packets of that path MTU? Otherwise '
  );
}

const lengthOf = ({ packet }: Request['packets'][number]): number => packet.payloadBytes;

/** Says so when every missing packet of a request, or of its answers, is longer than all that got through. */
export function lengthHint(study: Study, pending: Request): string {
  const { requests, answers, given, atResponder, acknowledged } = study;
  const packets = requests.flatMap((request) => request.packets);
  const through = packets.filter(({ place, arrived }) => (atResponder ? arrived.length > 0 : place <= acknowledged));
  const passed = new Set(through);
  const missing = pending.packets.filter((packet) => !passed.has(packet));
  const there = hint(through.map(lengthOf), missing.map(lengthOf));
  if (there !== '') return there;
  const came = new Set(answers.map(({ place }) => place));
  const owed = given.filter(
    ({ kind, place }) => kind === AnswerKind.DATA && place >= pending.first && !came.has(place),
  );
  const bytesOf = (all: Study['answers']): number[] => all.map(({ payloadBytes }) => payloadBytes);
  return hint(bytesOf(answers), bytesOf(owed));
}
