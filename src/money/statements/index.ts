export { statementsApi } from './api.ts'
export { monthsDue } from './due-months.ts'
