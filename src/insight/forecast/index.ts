export { forecastApi } from './api.ts'
