/** How endpoints come to lead to other workers. */
export { type Connector, connectorOf } from './connectors.js';
export { type Making, Wireup } from './wireup.js';
