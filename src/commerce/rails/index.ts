export { railsApi } from './api.ts'
