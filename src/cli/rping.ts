export { command } from './rping/command.js';
