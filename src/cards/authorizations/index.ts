export { CardAuthorization, CardMessage } from './authorization.ts'
