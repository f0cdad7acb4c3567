export { pendingEurosOf } from './funding.ts'
