export { rateRefusals } from './api.ts'
export {
  type Conversion,
  ConversionRecord,
  type ConvertedPrice,
  convertPrice,
  DEFAULT_MARGIN_PERCENT,
  originalOfConversion,
} from './convert.ts'
export { findNewestRates, type NewestRates, refreshRates } from './newest-rates.ts'
