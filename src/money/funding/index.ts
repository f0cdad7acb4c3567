export { pendingOf } from './funding-record.ts'
