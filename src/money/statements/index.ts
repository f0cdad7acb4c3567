export { statementsApi } from './api.ts'
export { findDueStatementMonths } from './generate.ts'
