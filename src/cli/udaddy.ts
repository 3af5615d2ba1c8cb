export { command } from './udaddy/command.js';
