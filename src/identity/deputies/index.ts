export { deputiesApi } from './api.ts'
export { readRunningDeputies } from './deputy.ts'
