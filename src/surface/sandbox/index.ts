export { sandboxApi } from './api.ts'
