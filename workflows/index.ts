/** One file a process; the name of the export is the name of the workflow. */
export { agent } from './agent.ts'
export { card } from './card.ts'
export { cardRequest as 'card-request' } from './card-request.ts'
export { collect } from './collect.ts'
export { intent } from './intent.ts'
export { statements } from './statements.ts'
export { transfer } from './transfer.ts'
export { webhook } from './webhook.ts'
