export { runsApi } from './api.ts'
export { type RunLimit, runLimits } from './run.ts'
