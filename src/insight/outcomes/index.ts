export { outcomesApi } from './api.ts'
