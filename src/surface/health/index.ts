export { healthApi } from './api.ts'
