import { z } from 'zod'
import { get, missing } from '../../kernel/contract/operation.ts'
import { inDigits, wholeNumber } from '../../kernel/contract/page.ts'
import { id } from '../../values/ids.ts'
import { money } from '../../values/money.ts'
import { knownKinds, MOST_KNOWN } from './known-spend.ts'
import { LAST_DAYS } from './method/backtest.ts'
import { MOST_DAYS, methods } from './method/outlook.ts'

const day = z.string().meta({ examples: ['2026-11-22'] })

const quantiles = {
  p10: money.meta({ description: 'In one of ten cases it is less.' }),
  p50: money.meta({ description: 'In half of the cases it is less.' }),
  p90: money.meta({ description: 'In one of ten cases it is more.' }),
}

const RunsOut = z.object({
  p10: day.nullable().meta({ description: 'In one of ten cases it is used up by then.' }),
  p50: day.nullable(),
  p90: day.nullable(),
})

const part = z.number().min(0).max(1)

const Backtest = z
  .object({
    days: z.int().meta({ description: 'From how many past days forecasts were made and judged.' }),
    coverage: part.meta({ description: 'The part that lay from p10 to p90; 0.8 is meant.' }),
    above: part.meta({ description: 'The part above p90; 0.1 is meant.' }),
    below: part,
    lossCents: money.meta({
      description: 'How far off the three amounts of a day were (the mean pinball loss): smaller is better.',
    }),
    poolLossCents: money.meta({
      deprecated: true,
      description: 'Equal to `lossEuros`: for programs that were written when there were two methods.',
    }),
    naiveLossCents: money.meta({ description: 'Of the forecast “as yesterday, with yesterday’s errors”.' }),
    rivalLossCents: money.meta({
      description: 'Of the quantiles of the last eight same weekdays, without a level and without weights.',
    }),
    lastDays: z
      .array(z.object({ date: day, ...quantiles, spentCents: money }))
      .max(LAST_DAYS)
      .meta({
        description:
          'The forecast of each of the last days, made on the day before, and what was spent on it.',
      }),
  })
  .meta({
    description: 'The method on this past, 1, 7 and 14 days ahead; nothing of later days was used.',
  })

const Known = z.object({
  kind: z.enum(knownKinds),
  date: day.meta({ description: 'By when it is paid at the latest, or is charged next.' }),
  amountCents: money,
  merchant: z.string(),
  agentId: id('agent').nullable(),
  intentId: id('intent').nullable(),
})

const Forecast = z.object({
  data: z.array(z.object({ date: day, ...quantiles })).meta({
    description: 'Today, the whole of it, and the days after it, by UTC and the tenant’s clock.',
  }),
  total: z
    .object(quantiles)
    .nullable()
    .meta({ description: 'The sum of these days: not the sum of the quantiles, which would be too wide.' }),
  runsOut: z.object({
    budget: RunsOut.meta({
      description: 'The day of this month on which its budget is used up; null: not in this month.',
    }),
    wallet: RunsOut.meta({
      description: `The day on which the agent’s wallet is, as it is filled now; null: not within ${MOST_DAYS} days, or no agent is meant.`,
    }),
  }),
  basis: z.object({
    method: z.enum(methods).meta({
      description:
        '`same_weekdays`: the same weekdays of the past half year; `little`: less than 28 days are known; `none`: less than 7, and there is no forecast.',
    }),
    days: z.int().meta({ description: 'How many whole days are known, from the first payment on.' }),
    frozen: z.boolean().meta({ description: 'The agent is frozen: the forecast is as if it were not.' }),
    notes: z.array(z.string()).meta({ description: 'What to know before one relies on it.' }),
    known: z.array(Known).max(MOST_KNOWN),
  }),
  backtest: Backtest.nullable(),
})

export const ForecastRecord = Forecast.extend({ agentId: id('agent').nullable() }).meta({ id: 'Forecast' })

const query = z.strictObject({
  days: inDigits(wholeNumber(1, MOST_DAYS).default(30)).meta({
    description: 'How many days, today included.',
  }),
})

const description =
  'The quantiles of the same weekdays of the past half year, brought to the level of the last weeks; younger weeks count more. It is what is spent on a day, before what comes back. Subscriptions that were found by their rhythm are not estimated: they stand on the days on which they are expected. The same question on the same day has the same answer, as long as what was paid before today stays the same.'

export const forecastApi = {
  ofAgent: get('/forecast/agents/{id}', {
    limits: { oneAtATime: true },
    callers: ['key', 'agent'],
    scope: 'insight:read',
    readsClock: true,
    summary: 'Forecast what an agent will cost',
    description,
    query,
    returns: [200, ForecastRecord],
    fails: { agent_not_found: missing('agent') },
  }),
  ofOwner: get('/forecast', {
    limits: { oneAtATime: true },
    callers: ['key'],
    scope: 'insight:read',
    readsClock: true,
    summary: 'Forecast what all agents and you will spend',
    description: `${description} The budget is the one that all agents share.`,
    query,
    returns: [200, ForecastRecord],
  }),
}
