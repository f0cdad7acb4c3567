import { z } from 'zod'
import { get, notFound } from '../../kernel/contract/operation.ts'
import { digitsAsNumber, integerSchema } from '../../kernel/contract/page.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'
import { OriginalAmountRecord } from '../../values/original-amount.ts'
import { knownSpendKinds, MAX_KNOWN_SPENDS } from './known-spend.ts'
import { BACKTESTED_DAYS } from './method/backtest.ts'
import { forecastMethods, MAX_FORECAST_DAYS } from './method/outlook.ts'

const day = z.string().meta({ examples: ['2026-11-22'] })

const quantiles = {
  p10: moneySchema.meta({ description: 'The 10th percentile.' }),
  p50: moneySchema.meta({ description: 'The median.' }),
  p90: moneySchema.meta({ description: 'The 90th percentile.' }),
}

const RunsOut = z.object({
  p10: day.nullable().meta({ description: 'The date by which it is used up with a probability of 10 %.' }),
  p50: day.nullable(),
  p90: day.nullable(),
})

const part = z.number().min(0).max(1)

const Backtest = z
  .object({
    days: z.int().meta({ description: 'The number of past days from which forecasts were made.' }),
    coverage: part.meta({ description: 'Share of days whose spend was between p10 and p90 (target: 0.8).' }),
    above: part.meta({ description: 'The share above p90 (target: 0.1).' }),
    below: part,
    lossCents: moneySchema.meta({
      description: 'The mean pinball loss of a day’s three amounts; lower is better.',
    }),
    poolLossCents: moneySchema.meta({
      deprecated: true,
      description: 'Equal to `lossEuros`. Kept for older programs.',
    }),
    naiveLossCents: moneySchema.meta({
      description: 'The loss of the forecast “same as yesterday”, with its own errors.',
    }),
    rivalLossCents: moneySchema.meta({
      description: 'The loss of the quantiles of the last eight same weekdays, without scaling and weights.',
    }),
    lastDays: z
      .array(z.object({ date: day, ...quantiles, spentCents: moneySchema }))
      .max(BACKTESTED_DAYS)
      .meta({
        description: 'The forecast of each of the last days, made on the day before, with the actual spend.',
      }),
  })
  .meta({
    description: 'Backtest of the method 1, 7 and 14 days ahead, without later data.',
  })

const Known = z.object({
  kind: z.enum(knownSpendKinds),
  date: day.meta({ description: 'The latest day of the payment, or the day of the next charge.' }),
  amountCents: moneySchema,
  original: OriginalAmountRecord.nullable(),
  merchant: z.string(),
  agentId: id('agent').nullable(),
  intentId: id('intent').nullable(),
})

const Forecast = z.object({
  data: z.array(z.object({ date: day, ...quantiles })).meta({
    description: 'Today, as a whole day, and the following days, in UTC and by the tenant’s clock.',
  }),
  total: z.object(quantiles).nullable().meta({
    description:
      'The forecast of the sum. It is not the sum of the quantiles, whose interval would be too wide.',
  }),
  runsOut: z.object({
    budget: RunsOut.meta({
      description: 'The day of this month on which its budget is used up; null if it lasts.',
    }),
    wallet: RunsOut.meta({
      description: `The day on which the agent’s wallet is empty at its present balance; null if not within ${MAX_FORECAST_DAYS} days, and for all agents.`,
    }),
  }),
  basis: z.object({
    method: z.enum(forecastMethods).meta({
      description:
        '`same_weekdays`: the same weekdays of the past half year; `little`: less than 28 days of data; `none`: less than 7 days, so no forecast.',
    }),
    days: z
      .int()
      .meta({ description: 'Number of whole days with known spending, from the first payment on.' }),
    frozen: z
      .boolean()
      .meta({ description: 'Whether the agent is frozen. The forecast assumes that it is not.' }),
    notes: z.array(z.string()).meta({ description: 'Caveats.' }),
    known: z.array(Known).max(MAX_KNOWN_SPENDS),
  }),
  backtest: Backtest.nullable(),
})

export const ForecastRecord = Forecast.extend({ agentId: id('agent').nullable() }).meta({ id: 'Forecast' })

const query = z.strictObject({
  days: digitsAsNumber(integerSchema(1, MAX_FORECAST_DAYS).default(30)).meta({
    description: 'The number of days, including today.',
  }),
})

const description =
  'Quantiles of the same weekdays of the past half year, scaled to the level of the last weeks. The forecast is of spending before refunds. Detected subscriptions are not estimated, but expected on their days.'

export const forecastApi = {
  ofAgent: get('/forecast/agents/{id}', {
    limits: { oneAtATime: true },
    callers: ['key', 'agent'],
    scope: 'insight:read',
    readsClock: true,
    isReport: true,
    summary: 'Forecast the spending of an agent',
    description,
    query,
    returns: [200, ForecastRecord],
    fails: { agent_not_found: notFound('agent') },
  }),
  ofOwner: get('/forecast', {
    limits: { oneAtATime: true },
    callers: ['key'],
    scope: 'insight:read',
    readsClock: true,
    isReport: true,
    summary: 'Forecast the spending of all agents and you',
    description: 'As `GET /forecast/agents/{id}`, with the shared budget.',
    query,
    returns: [200, ForecastRecord],
  }),
}
