export { authenticator } from './authenticate.ts'
export { missingScope } from './keys.ts'
export { expiryProblem, lockCaller } from './locked-caller.ts'
