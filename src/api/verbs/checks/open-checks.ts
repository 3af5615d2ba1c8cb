import type { OpenOptions } from '../objects/open-options.js';
import type { FieldsOf } from './fields.js';

/** The fields of what says how a device is opened, whose address is said elsewhere. */
export const openingFields: FieldsOf<Omit<OpenOptions, 'address'>> = {
  host: true,
  capture: true,
  link: true,
  netem: true,
  minAckTimeout: true,
  warn: true,
};

/** The same, and the address. */
export const openFields: FieldsOf<OpenOptions> = { ...openingFields, address: true };
