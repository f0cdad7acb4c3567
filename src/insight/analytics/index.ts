export { anomaliesApi } from './anomalies/api.ts'
export {
  type ChargeSeries as Run,
  nextChargesOf as nextsOf,
  RHYTHMS,
  readChargeSeries as readRuns,
} from './charge-series.ts'
export { costsApi } from './costs-api.ts'
export { merchantDetails } from './merchants.ts'
export { merchantsApi } from './merchants-api.ts'
