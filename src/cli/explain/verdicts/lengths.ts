/** Links that carry short packets only: the classic of RoCE, where pings answer and data vanishes. */
import type { Request } from '../requests/requests.js';
import { AnswerKind } from '../requests/answers.js';
import type { Study } from '../requests/study.js';

/** Ethernet's usual MTU carries path MTUs up to this. */
const ORDINARY_BYTES = 1024;

/** The least and the greatest of some numbers. */
class Extremes {
  least = Infinity;
  greatest = -Infinity;

  add(number: number): void {
    this.least = Math.min(this.least, number);
    this.greatest = Math.max(this.greatest, number);
  }
}

/** In bytes of data: of all packets that got through, and of those that did not. */
function hint(through: Extremes, missing: Extremes): string {
  const { greatest: throughBytes } = through;
  const { least: missingBytes } = missing;
  if (throughBytes < 0 || missingBytes === Infinity) return '';
  if (missingBytes <= Math.max(throughBytes, ORDINARY_BYTES)) return '';
  const short = throughBytes === 0 ? 'without data' : `with ${throughBytes} bytes of data at most`;
  return (
    `packets ${short} got through, and none with ${missingBytes}: ` +
    'does every link on the way carry packets of that path MTU?'
  );
}

/** Says so when every missing packet of a request, or of its answers, is longer than all that got through. */
export function lengthHint(study: Study, pending: Request): string {
  const { requests, answers, given, atResponder, acknowledged, sightings } = study;
  const { packets } = requests;
  const { table } = sightings;
  const lengthOf = (packet: number): number => table.payloadBytes(packets.rows[packet]);
  const isThrough = (packet: number): boolean =>
    atResponder ? packets.arrived.count(packet) > 0 : packets.places[packet] <= acknowledged;
  const through = new Extremes();
  for (let packet = 0; packet < packets.length; packet += 1) if (isThrough(packet)) through.add(lengthOf(packet));
  const missing = new Extremes();
  for (let packet = pending.begin; packet < pending.end; packet += 1)
    if (!isThrough(packet)) missing.add(lengthOf(packet));
  const there = hint(through, missing);
  if (there !== '') return there;
  const came = new Set(answers.places);
  const [got, owed] = [new Extremes(), new Extremes()];
  for (const { payloadBytes } of answers) got.add(payloadBytes);
  for (const { kind, place, payloadBytes } of given)
    if (kind === AnswerKind.DATA && place >= pending.first && !came.has(place)) owed.add(payloadBytes);
  return hint(got, owed);
}
