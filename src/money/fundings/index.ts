export { pendingOf } from './funding.ts'
