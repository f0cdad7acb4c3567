export { mppApi, protectApi } from './api.ts'
