export { deputiesApi } from './api.ts'
export { type DeputyWrite, recordDeputy } from './name-deputy.ts'
