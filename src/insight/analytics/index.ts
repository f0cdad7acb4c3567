export { rhythmOf } from './rhythm.ts'
