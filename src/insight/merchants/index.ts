export { merchantsApi } from './api.ts'
