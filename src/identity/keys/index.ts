export { authenticator } from './authenticate.ts'
export { lacking } from './keys.ts'
export { callingKey, tooLate } from './maker.ts'
