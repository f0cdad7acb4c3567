export { maskCardNumbersInResult } from './tool-call.ts'
