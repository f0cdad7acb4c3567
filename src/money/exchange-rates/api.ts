import { z } from 'zod'
import { get, type RefusalSpec } from '../../kernel/contract/operation.ts'

export const rateRefusals = {
  rates_outdated: [
    503,
    'No exchange rate of the last four days is known. They are being fetched: try again in a minute. The operator finds the reason in the log. Payments in euros work.',
  ],
} as const satisfies Record<string, RefusalSpec>

export const exchangeRatesApi = {
  get: get('/exchange-rates', {
    callers: ['key', 'console', 'agent'],
    scope: 'intents:read',
    readsClock: true,
    summary: 'Get the exchange rates',
    description:
      'The newest euro reference rates. Live mode with a [real rail](/docs/guides/going-live#what-moves-real-money) has those of the European Central Bank, which publishes them each working day at about 16:00 Frankfurt time. Otherwise the rates are fixed ones.',
    returns: [
      200,
      z
        .object({
          source: z.enum(['sandbox', 'ecb']).meta({
            description:
              '`ecb` in live mode with a real rail, also if another server (`EXCHANGE_RATES_URL`) gives the file; else `sandbox`.',
          }),
          date: z.iso.date().meta({ description: 'The day of the rates.' }),
          rates: z
            .array(
              z.object({
                currency: z.string().meta({ description: 'ISO 4217.', examples: ['USD'] }),
                rate: z.string().meta({ description: 'Units for one euro.', examples: ['1.1600'] }),
              }),
            )
            .meta({ description: 'By currency.' }),
        })
        .meta({ id: 'ExchangeRates' }),
    ],
    fails: rateRefusals,
  }),
}
