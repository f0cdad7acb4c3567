import { z } from 'zod'
import { paymentRequiredContract, paymentRequiredRefusal } from '../../commerce/collect/index.ts'
import { fileSchema } from '../../kernel/contract/file.ts'
import { get, post } from '../../kernel/contract/operation.ts'
import { patternTextSchema } from '../../values/schemas.ts'
import { merchantScenarios } from './scenarios.ts'

const table = Object.entries(merchantScenarios)
  .map(([name, { about }]) => `- \`${name}\`: ${about}`)
  .join('\n')

const description = `A merchant for your agents in test mode. It asks for € 2.50, or for \`amountEuros\`. Let an agent pay it with \`POST /v1/mpp/pay\`, on an intent whose merchant is the host of this service. It charges the card once for each challenge.

The scenarios:

${table}`

const price = patternTextSchema(
  /^(?!0+(?:\.0+)?$)\d{1,3}(?:\.\d{1,2})?$/,
  6,
  'a price is more than 0, less than 1000, and has at most two decimals',
).meta({ description: 'The price in euros.', examples: ['7.50'] })

const merchant = {
  ...paymentRequiredContract,
  summary: 'Pay a simulated merchant',
  description,
  tag: 'Sandbox',
  query: z.strictObject({ amountEuros: price.optional() }),
  returns: [200, fileSchema('application/json')],
  http: {
    ...paymentRequiredContract.http,
    headers: {
      ...paymentRequiredContract.http.headers,
      302: { Location: 'A private address.' },
      500: { 'Payment-Receipt': 'A receipt on an error, which proves nothing.' },
    },
  },
  fails: {
    ...paymentRequiredContract.fails,
    payment_required: paymentRequiredRefusal({
      offers: [{ method: 'card', intent: 'charge', currency: 'eur', amount: null }],
    }),
    scenario_not_found: [404, 'No such scenario. The description of this operation lists all of them.'],
    moved: [302, 'Look elsewhere.'],
    forbidden: [403, 'This merchant refuses you.'],
    failed: [500, 'Something went wrong at this merchant.'],
  },
} as const

export const mppMerchantsApi = {
  get: get('/simulate/mpp/{scenario}', merchant),
  post: post('/simulate/mpp/{scenario}', {
    ...merchant,
    summary: 'Pay a simulated merchant, with POST',
    description:
      'The merchant of `GET /simulate/mpp/{scenario}`, with the same scenarios, for a request with a body.',
  }),
}

export type MerchantRefusal = keyof typeof merchant.fails
