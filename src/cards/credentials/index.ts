export { credentialsApi } from './api.ts'
