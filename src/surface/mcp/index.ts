export { withoutCardNumbers } from './result.ts'
