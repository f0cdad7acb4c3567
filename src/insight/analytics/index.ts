export { anomaliesApi } from './anomalies/api.ts'
export {
  CHARGE_INTERVALS,
  type ChargeSeries,
  nextChargeDateAfter,
  readChargeSeries,
} from './charge-series.ts'
export { costsApi } from './costs-api.ts'
export { readMerchantDetails } from './merchants.ts'
export { merchantReportsApi } from './merchants-api.ts'
