import type { Measurement } from '../measure/measurement.js';
import type { Figure } from './statistics.js';

/** What is known of a row when it has been measured. */
export interface Result extends Figure, Omit<Measurement, 'samples'> {
  readonly section: string;
  readonly id: string;
  readonly what: string;
  readonly unit: string;
  readonly tookSeconds: number;
}
