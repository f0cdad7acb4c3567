export { authenticator } from './authenticate.ts'
export { expiryProblem, lockCallingKey } from './calling-key.ts'
export { missingScope } from './keys.ts'
