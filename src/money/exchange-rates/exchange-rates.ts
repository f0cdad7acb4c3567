import { area } from '../../kernel/contract/area.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { exchangeRatesApi } from './api.ts'
import { findNewestRates } from './newest-rates.ts'

const exchangeRates = bindHandlers(exchangeRatesApi, {
  async get(_, { sql, systems, tenant, now, refuse }) {
    const newest = await findNewestRates(tenant.mode, { sql, systems, now })
    if (!newest) return refuse('rates_outdated')
    const { source, date, rates } = newest
    return { source, date, rates: [...rates].sort().map(([currency, rate]) => ({ currency, rate })) }
  },
})

export const exchangeRatesArea = area(
  'Exchange Rates',
  'Euro reference rates, by which payments in other currencies are decided.',
  exchangeRates,
  { personal: { exchange_rates: { personal: {}, plain: ['currency'], owner: null } } },
)
