export { authenticator } from './authenticate.ts'
export { callingKey, tooLate } from './calling-key.ts'
export { lacking } from './keys.ts'
