export { type RunLimit, runLimits } from './limits.ts'
