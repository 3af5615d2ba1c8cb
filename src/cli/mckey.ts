export { command } from './mckey/command.js';
