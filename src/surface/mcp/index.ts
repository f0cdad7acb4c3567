export { withoutCardNumbers } from './tool-call.ts'
