export { statementsApi } from './api.ts'
export { monthsDue } from './generate.ts'
