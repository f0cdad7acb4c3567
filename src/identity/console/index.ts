export { consoleApi } from './api.ts'
