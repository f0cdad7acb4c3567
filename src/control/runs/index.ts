export { runSteps, runsApi } from './api.ts'
export { type RunLimit, runLimits } from './run.ts'
export { endRunsOfAgent, firstRunningRun } from './runs.ts'
