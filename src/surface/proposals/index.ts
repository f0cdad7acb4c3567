export { proposalsApi } from './api.ts'
export { type Proposed, propose } from './propose.ts'
