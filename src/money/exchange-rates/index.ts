export { refreshRates } from './newest-rates.ts'
